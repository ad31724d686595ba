import { setTimeout } from 'node:timers/promises'
import { codeOf, tell } from './client.ts'
import { broken, holds, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import type { Site } from './site.ts'

const QUOTAS = 'how-to/quotas.md'
const PIECE = 100_000
const FITTING = 10
const LARGE = 50_000_000
/** An answer that comes before this number of bytes have been sent is early. */
const EARLY = 4_000_000
const STEP = 100_000

/** A context of its own with this quota. `undefined` when quotas are off. */
async function limited(site: Site, quota: number): Promise<string | undefined> {
  const context = await site.workshop.context()
  const put = await site.admin.ask(`${context}/quota`, { method: 'PUT', json: { quota } })
  return put.status === 200 ? context : undefined
}

const used = async (site: Site, context: string): Promise<number> =>
  (await site.admin.ask(`${context}/quota`)).json<{ readonly fillLevel: number }>().fillLevel

const OFF = 'quotas are switched off (service.data.quota), or this account may not set them'

export const rightsPromises: readonly Promised[] = [
  {
    id: 'right-taken',
    sentence: 'A right that is taken away ends with the next request, on every node.',
    page: 'concepts.md',
    check: async site => {
      const person = await site.workshop.user()
      const client = await site.signedIn(person)
      const context = await site.workshop.context([person.id])
      const path = await site.workshop.file(client, context, Buffer.from('text'))
      const before = await client.ask(path)
      await site.workshop.share(context, [])
      const after = await Promise.all(site.everywhere(client).map(one => one.ask(path)))
      if (before.status !== 200) return unchecked(`the user could not read the file: ${tell(before)}`)
      return holds(
        after.every(({ status }) => status === 403),
        after.map(tell).join(', '),
        'Connect all nodes to the same database, and let the proxy not cache.',
      )
    },
  },
  {
    id: 'left-group',
    sentence: 'Who leaves a group loses its rights with the next request, on every node.',
    page: 'concepts.md',
    check: async site => {
      const person = await site.workshop.user()
      const client = await site.signedIn(person)
      const group = await site.workshop.group([person.id])
      const context = await site.workshop.context([group])
      const path = await site.workshop.file(client, context, Buffer.from('text'))
      const left = await site.admin.ask(`_principals/resource/${group}`, { method: 'PUT', json: [] })
      if (left.status >= 300) return unchecked(`the members could not be changed: ${tell(left)}`)
      const after = await Promise.all(site.everywhere(client).map(one => one.ask(path)))
      return holds(
        after.every(({ status }) => status === 403),
        after.map(tell).join(', '),
        'Connect all nodes to the same database, and let the proxy not cache.',
      )
    },
  },
  {
    id: 'quota-exact',
    sentence: 'A quota is exact to the byte, also for parallel uploads on several nodes.',
    page: QUOTAS,
    check: async site => {
      const context = await limited(site, FITTING * PIECE)
      if (context === undefined) return unchecked(OFF)
      const doors = site.nodesFor(site.admin)
      const entries: string[] = []
      for (let count = 0; count < FITTING + 3; count++) entries.push(await site.workshop.entry(site.admin, context))
      const answers = await Promise.all(
        entries.map((entry, index) =>
          site.workshop.put(
            doors[index % doors.length] ?? site.admin,
            `${context}/resource/${entry}`,
            Buffer.alloc(PIECE),
          ),
        ),
      )
      const stored = answers.filter(({ status }) => status === 201).length
      const level = await used(site, context)
      return holds(
        stored === FITTING && level === FITTING * PIECE,
        `${stored} of ${entries.length} uploads fit, ${level} bytes are counted`,
        'Connect all nodes to the same database.',
      )
    },
  },
  {
    id: 'quota-last-byte',
    sentence: 'The last byte of a quota fits, and one more is refused with 413 `quota-exceeded`.',
    page: QUOTAS,
    check: async site => {
      const context = await limited(site, PIECE)
      if (context === undefined) return unchecked(OFF)
      const put = async (size: number) => {
        const entry = await site.workshop.entry(site.admin, context)
        return await site.workshop.put(site.admin, `${context}/resource/${entry}`, Buffer.alloc(size))
      }
      const [fits, refused] = [await put(PIECE), await put(1)]
      return holds(
        fits.status === 201 && refused.status === 413 && codeOf(refused) === 'quota-exceeded',
        `${tell(fits)}, then ${tell(refused)}`,
        'Let the proxy pass errors on, without pages of its own.',
      )
    },
  },
  {
    id: 'quota-freed',
    sentence: 'A deleted file gives its space back at once.',
    page: QUOTAS,
    check: async site => {
      const context = await limited(site, PIECE)
      if (context === undefined) return unchecked(OFF)
      const path = await site.workshop.file(site.admin, context, Buffer.alloc(PIECE))
      const deleted = await site.admin.ask(path.replace('/resource/', '/entry/'), { method: 'DELETE' })
      const level = await used(site, context)
      return holds(deleted.status < 300 && level === 0, `${level} bytes are counted`, 'Run `stowage fsck`.')
    },
  },
  {
    id: 'refused-early',
    sentence: 'An upload beyond a quota is refused before its bytes are sent.',
    page: 'how-to/reverse-proxy.md',
    check: async site => {
      const context = await limited(site, PIECE)
      if (context === undefined) return unchecked(OFF)
      const entry = await site.workshop.entry(site.admin, context)
      const sent = site.admin.begin(`${context}/resource/${entry}`, {
        method: 'PUT',
        headers: { 'content-type': 'text/plain', 'content-length': String(LARGE) },
      })
      const answered: number[] = []
      sent.on('response', ({ statusCode = 0 }) => answered.push(statusCode))
      sent.on('error', () => {})
      let bytes = 0
      // Some servers pass an answer on after the first part of the body.
      for (; bytes < EARLY && answered.length === 0; bytes += STEP) {
        sent.write(Buffer.alloc(STEP))
        await setTimeout(100)
      }
      sent.destroy()
      const [status] = answered
      if (status === 413) return kept(`413 after the first ${bytes} of ${LARGE} bytes`)
      const { headers } = await site.guest().ask('/')
      const isApache = /apache/i.test(String(headers.server))
      if (isApache) return unchecked('Apache reads a whole upload before it passes an answer on')
      const seen = status === undefined ? `no answer after ${bytes} of ${LARGE} bytes` : String(status)
      return broken(seen, 'Switch buffering of uploads off (proxy_request_buffering off).')
    },
  },
]
