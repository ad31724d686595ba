import assert from 'node:assert/strict'
import yauzl from 'yauzl'
import yazl from 'yazl'
import type { Answer, Visitor } from './http-client.ts'

/** The archive of a context. */
export async function exportOf(visitor: Visitor, context: string, query = ''): Promise<Buffer> {
  const answer = await visitor.get(`${context}/export${query}`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/zip')
  return answer.bytes
}

export const importInto = (visitor: Visitor, context: string, archive: Uint8Array, query = ''): Promise<Answer> =>
  visitor.ask(`${context}/import${query}`, {
    method: 'POST',
    body: archive,
    headers: { 'content-type': 'application/zip' },
  })

export interface Member {
  readonly name: string
  readonly bytes: Buffer
  readonly isDeflated: boolean
  readonly modified?: Date
}

/** What is in an archive, in its order. */
export async function membersOf(archive: Buffer): Promise<Member[]> {
  const zip = await yauzl.fromBufferPromise(archive)
  const members: Member[] = []
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = []
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer)
    members.push({
      name: entry.fileName,
      bytes: Buffer.concat(chunks),
      isDeflated: entry.compressionMethod !== 0,
      modified: entry.getLastModDate(),
    })
  }
  return members
}

export async function archiveOf(members: readonly Member[]): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const { name, bytes, isDeflated } of members) zip.addBuffer(bytes, name, { compress: isDeflated })
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The same archive with one of its members as text changed. */
export async function withText(archive: Buffer, name: string, change: (text: string) => string): Promise<Buffer> {
  const members = await membersOf(archive)
  return await archiveOf(
    members.map(member =>
      member.name === name ? { ...member, bytes: Buffer.from(change(member.bytes.toString('utf8'))) } : member,
    ),
  )
}
