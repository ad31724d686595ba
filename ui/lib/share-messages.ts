import type { Place } from './access.ts'
import { ask } from './api.ts'
import { part } from './base.ts'

/** Whether the service sends mails, from an attribute of the page. */
export const hasMails: boolean = document.documentElement.dataset['mails'] !== undefined

/** Characters of one message. */
export const MAX_MESSAGE = 1000

interface Message {
  /** Id of a user or group with access to the place. */
  readonly principal: string
  readonly text: string
}

/** Sends a mail with a link to the place. Resolves to whether anybody gets it: they need an e-mail address. @throws {Problem} */
export async function sendMessage({ context, entry }: Place, message: Message): Promise<boolean> {
  const path = entry === undefined ? `_contexts/messages/${part(context)}` : `${part(context)}/messages/${part(entry)}`
  return (await ask<{ readonly sent: number }>(path, { method: 'POST', json: message })).sent > 0
}
