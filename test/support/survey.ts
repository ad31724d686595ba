import assert from 'node:assert/strict'
import type { Visitor } from './http-client.ts'

/** All that an administrator sees of a store over HTTP: what each address answers, wherever the service is reached. */
export async function survey(admin: Visitor): Promise<Readonly<Record<string, string>>> {
  const seen: Record<string, string> = {}
  const look = async (path: string): Promise<string> => {
    const { status, headers, text } = await admin.get(path)
    const kind = [status, headers['content-type'], headers['etag'], headers['digest'], headers['last-modified']]
    seen[path] = `${kind.join(' ')}\n${text.replaceAll(admin.base, '/')}`
    return text
  }
  const contexts = JSON.parse(await look('_contexts')) as string[]
  for (const context of contexts) {
    await look(`${context}/quota`)
    for (const id of JSON.parse(await look(context)) as string[]) {
      for (const part of ['entry', 'metadata', 'resource']) await look(`${context}/${part}/${id}`)
    }
  }
  assert.ok(Object.keys(seen).length > 50, 'there is something to be seen')
  return seen
}
