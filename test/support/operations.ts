import assert from 'node:assert/strict'
import type { Visitor } from './http-client.ts'
import { newEntry } from './service.ts'
import { until } from './waiting.ts'

export interface OperationJson {
  readonly id: string
  readonly action: string
  readonly state: 'running' | 'done' | 'cancelled' | 'ended'
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly failures: ReadonlyArray<{ readonly entry: string; readonly code: string; readonly reason: string }>
  readonly code?: string
  readonly maker: string
}

/** Begins an operation and resolves to it, as it is in the response. */
export async function begin(visitor: Visitor, context: string, body: object): Promise<OperationJson> {
  const answer = await visitor.post(`${context}/operations`, body)
  assert.equal(answer.status, 202, answer.text)
  const operation = answer.json<OperationJson>()
  assert.equal(answer.headers['location'], `${visitor.base}${context}/operations/${operation.id}`)
  return operation
}

export async function readOperation(visitor: Visitor, context: string, id: string): Promise<OperationJson> {
  const answer = await visitor.get(`${context}/operations/${id}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<OperationJson>()
}

/** Resolves to the operation when it is over. */
export const over = (visitor: Visitor, context: string, id: string): Promise<OperationJson> =>
  until(
    () => readOperation(visitor, context, id),
    ({ state }) => state !== 'running',
  )

/** Carries an operation out, and resolves to it when it is over. */
export const operate = async (visitor: Visitor, context: string, body: object): Promise<OperationJson> =>
  await over(visitor, context, (await begin(visitor, context, body)).id)

/** Carries an operation out, of which every step must succeed. */
export async function operateWhole(visitor: Visitor, context: string, body: object, total: number): Promise<void> {
  const { state, done, failures } = await operate(visitor, context, body)
  assert.deepEqual({ state, done, failures }, { state: 'done', done: total, failures: [] })
}

/** Ids that no entry has: as many steps, of which each fails. */
export const unknownIds = (count: number): string[] => Array.from({ length: count }, (_, index) => `none-${index}`)

/** Creates entries, and resolves to their ids. */
export async function newEntries(visitor: Visitor, context: string, count: number, query = ''): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made++) ids.push(await newEntry(visitor, context, query))
  return ids
}
