import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Answer, Visitor } from '../support/http-client.ts'
import { multipartBody, multipartHeaders } from '../support/uploads.ts'
import type { Random } from './random.ts'

/** What a place that files go to may hold: nothing at all, an entry without a file, or bytes of a size and digest. */
export type Held = 'gone' | 'empty' | { readonly size: number; readonly sha256: string }

/** An entry, and everything that it may hold after what has been asked of it; one thing while no request is under way. */
export interface Place {
  readonly context: string
  readonly entry: string
  possible: readonly Held[]
}

export interface Space {
  readonly context: string
  possibleQuotas: readonly number[]
  readonly places: Place[]
}

/** The requests that a round makes, and how many of them were answered. */
export interface Tally {
  acknowledged: number
  refused: number
}

const MOST_PLACES = 24
const SIZES = [0, 1, 100, 4096, 70_000, 300_000]

/** An answer that no correct service gives. */
export class WrongAnswer extends Error {}

/**
 * One client at work on places that are its own: creates, replaces, deletes, sets quotas, without end. Ends by the rejection
 * of the request that the crash cut off, whose effect stays among the possible ones.
 */
export async function work(admin: Visitor, space: Space, random: Random, tally: Tally): Promise<never> {
  for (;;) await step(admin, space, random, tally)
}

async function step(admin: Visitor, space: Space, random: Random, tally: Tally): Promise<void> {
  const place = space.places.length > 0 ? random.pick(space.places) : undefined
  const dice = random.below(100)
  if (!place || (dice < 20 && space.places.length < MOST_PLACES)) await create(admin, space, tally)
  else if (dice < 75) await upload(admin, place, random, tally)
  else if (dice < 85) await change(admin, place, 'empty', 'resource', tally)
  else if (dice < 93) await change(admin, place, 'gone', 'entry', tally)
  else await setQuota(admin, space, random, tally)
  dropGone(space)
}

/** Places whose entry is certainly deleted are no longer worked on. */
export function dropGone(space: Space): void {
  const left = space.places.filter(({ possible }) => possible.some(held => held !== 'gone'))
  space.places.splice(0, space.places.length, ...left)
}

async function create(admin: Visitor, space: Space, tally: Tally): Promise<void> {
  const answer = await admin.post(space.context)
  expect(answer, [201])
  tally.acknowledged++
  const { entryId } = answer.json<{ entryId: string }>()
  space.places.push({ context: space.context, entry: entryId, possible: ['empty'] })
}

async function upload(admin: Visitor, place: Place, random: Random, tally: Tally): Promise<void> {
  const bytes = random.bytes(Math.floor(random.pick(SIZES) * (1 + random.below(100) / 100)))
  const before = place.possible
  const after = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  place.possible = [...before, after]
  const answer = await admin.ask(`${place.context}/resource/${place.entry}`, {
    method: 'PUT',
    ...framed(bytes, random),
  })
  expect(answer, [201, 413])
  place.possible = answer.status === 201 ? [after] : before
  tally[answer.status === 201 ? 'acknowledged' : 'refused']++
}

/** Raw, chunked or as a form: the ways in which bytes come (wire facts 3.8.1). */
function framed(bytes: Buffer, random: Random) {
  const type = { 'content-type': 'application/octet-stream' }
  if (random.chance(40)) return { body: bytes, headers: type }
  if (random.chance(50)) return { body: Readable.from(pieces(bytes)), headers: type }
  const [head = '', tail = ''] = multipartBody([{ name: '0', fileName: 'a', content: '\0' }]).split('\0')
  return { body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]), headers: multipartHeaders }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 16_384) yield bytes.subarray(from, from + 16_384)
}

async function change(admin: Visitor, place: Place, to: Held, part: 'resource' | 'entry', tally: Tally): Promise<void> {
  const before = place.possible
  place.possible = [...before, to]
  const answer = await admin.delete(`${place.context}/${part}/${place.entry}`)
  // There may be no file to delete.
  expect(answer, before.every(held => held === 'empty') ? [204, 404] : [204])
  place.possible = [to]
  tally.acknowledged++
}

async function setQuota(admin: Visitor, space: Space, random: Random, tally: Tally): Promise<void> {
  const quota = random.pick([-1, 0, 200_000, 1_000_000, 5_000_000])
  const before = space.possibleQuotas
  space.possibleQuotas = [...before, quota]
  expect(await admin.put(`${space.context}/quota`, { quota }), [200])
  space.possibleQuotas = [quota]
  tally.acknowledged++
}

function expect(answer: Answer, statuses: readonly number[]): void {
  if (!statuses.includes(answer.status)) throw new WrongAnswer(`${answer.status} ${answer.text}`)
}
