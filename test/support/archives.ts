import assert from 'node:assert/strict'
import type { Answer, Visitor } from './http-client.ts'

/** The archive of a context. */
export async function exportOf(visitor: Visitor, context: string, query = ''): Promise<Buffer> {
  const answer = await visitor.get(`${context}/export${query}`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/zip')
  return answer.bytes
}

export const importInto = (visitor: Visitor, context: string, archive: Uint8Array): Promise<Answer> =>
  visitor.ask(`${context}/import`, { method: 'POST', body: archive, headers: { 'content-type': 'application/zip' } })
