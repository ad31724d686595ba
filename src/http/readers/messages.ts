import { guestFrom } from '../../accounts/caller.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'

// Tasks and small answers go between threads as one text each: copying objects takes several times as long, and a task of another
// serving thread is copied twice on its way.

type TaskParts = [
  url: string,
  headers: ReadTask['headers'],
  userId: string,
  groups: readonly string[],
  grant?: ReadTask['caller']['grant'],
]

/** The task as a text, the same for tasks that have the same answer. */
export function textOfTask({ url, headers, caller: { user, groups, grant } }: ReadTask): string {
  const parts: TaskParts = [url, headers, user.id, [...groups].sort()]
  return JSON.stringify(grant ? [...parts, grant] : parts)
}

export function taskFrom(text: string): ReadTask {
  const [url, headers, userId, groups, grant] = JSON.parse(text) as TaskParts
  const caller = { user: { ...nobody.user, id: userId }, groups: new Set(groups), client: nobody.client }
  return { url, headers, caller: grant ? { ...caller, grant } : caller }
}

/** What decides about the rights of a caller is in the task, and nothing else. */
const nobody = guestFrom({ address: '', userAgent: '' })

/** An answer on its way: bytes are moved, and a refusal is copied. */
export type AnswerMessage = string | ReadAnswer

export function answerMessage(answer: ReadAnswer): AnswerMessage {
  if ('refused' in answer || typeof answer.body !== 'string') return answer
  const { status, headers, body } = answer
  // The separator is not in JSON.
  return `${JSON.stringify([status, headers])}\n${body}`
}

export function answerFrom(message: AnswerMessage): ReadAnswer {
  if (typeof message !== 'string') return message
  const end = message.indexOf('\n')
  const [status, headers] = JSON.parse(message.slice(0, end)) as [number, Record<string, string>]
  return { status, headers, body: message.slice(end + 1) }
}
