import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Answer, Visitor } from '../support/http-client.ts'
import { newContext } from '../support/service.ts'
import { multipartBody, multipartHeaders } from '../support/uploads.ts'
import type { Random } from './random.ts'

/** What a place that files go to may hold: nothing at all, an entry without a file, or bytes of a size and digest. */
export type Held = 'gone' | 'empty' | { readonly size: number; readonly sha256: string }

/** An entry, and everything that it may hold after what has been asked of it; one thing while no request is under way. */
export interface Place {
  readonly context: string
  readonly entry: string
  possible: readonly Held[]
  /** An upload in several requests that has not ended. */
  unfinished?: Resumable | undefined
}

interface Resumable {
  readonly path: string
  readonly bytes: Buffer
  /** The offset of the last response. */
  confirmed: number
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
  /** Changes that may or may not have been made, after which the client went on. */
  open: number
}

export interface Manner {
  readonly isOver: () => boolean
  /** Whether an answer or error is one after which a client goes on, not knowing whether the change was made. */
  readonly leavesOpen: (error: unknown) => boolean
}

const MAX_PLACES = 24
const SIZES = [0, 1, 100, 4096, 70_000, 300_000]

/** An answer that is none of those expected. */
export class WrongAnswer extends Error {
  readonly answer: Answer
  readonly asked: string

  constructor(asked: string, answer: Answer) {
    super(`${asked}: ${answer.status} ${answer.text.slice(0, 500)}`)
    this.asked = asked
    this.answer = answer
  }
}

/** An answer to a read that did not come, or not as a whole. */
export class ReadFailed extends Error {}

const untilTheEnd: Manner = { isOver: () => false, leavesOpen: () => false }

/**
 * One client at work on places that are its own: creates, replaces, reads, deletes, sets quotas. Ends by the rejection of a
 * request that a crash cut off, whose effect stays among the possible ones, or when it is over.
 */
export async function work(
  admin: Visitor,
  space: Space,
  random: Random,
  tally: Tally,
  { isOver, leavesOpen } = untilTheEnd,
): Promise<void> {
  while (!isOver()) {
    try {
      await step(admin, space, random, tally)
    } catch (error) {
      if (!leavesOpen(error)) throw error
      tally.open++
    }
  }
}

async function step(admin: Visitor, space: Space, random: Random, tally: Tally): Promise<void> {
  const place = space.places.length > 0 ? random.pick(space.places) : undefined
  const dice = random.below(100)
  if (!place || (dice < 20 && space.places.length < MAX_PLACES)) await create(admin, space, tally)
  else if (dice < 30) await resumable(admin, place, random, tally)
  else if (dice < 65) await upload(admin, place, random, tally)
  else if (dice < 75) await read(admin, place)
  else if (dice < 85) await change(admin, place, 'empty', 'resource', tally)
  else if (dice < 93) await change(admin, place, 'gone', 'entry', tally)
  else await setQuota(admin, space, random, tally)
  dropGone(space)
}

/** Places whose entry is certainly deleted are no longer worked on. */
function dropGone(space: Space): void {
  const left = space.places.filter(({ possible }) => possible.some(held => held !== 'gone'))
  space.places.splice(0, space.places.length, ...left)
}

async function create(admin: Visitor, space: Space, tally: Tally): Promise<void> {
  const answer = await admin.post(space.context)
  expect('POST', answer, [201])
  tally.acknowledged++
  const { entryId } = answer.json<{ entryId: string }>()
  space.places.push({ context: space.context, entry: entryId, possible: ['empty'] })
}

async function upload(admin: Visitor, place: Place, random: Random, tally: Tally): Promise<void> {
  const bytes = random.bytes(Math.floor(random.pick(SIZES) * (1 + random.below(100) / 100)))
  const before = place.possible
  const after = heldAs(bytes)
  place.possible = [...before, after]
  const answer = await admin.ask(`${place.context}/resource/${place.entry}`, {
    method: 'PUT',
    ...framed(bytes, random),
  })
  // Its entry may have been deleted by a request that was never answered.
  const wasGone = before.includes('gone') && answer.status === 404
  if (!wasGone) expect('PUT', answer, [201, 413])
  place.possible = wasGone ? ['gone'] : answer.status === 201 ? [after] : before
  tally[answer.status === 201 ? 'acknowledged' : 'refused']++
}

const TUS = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' }

/** An upload in several requests, each of which confirms an offset. */
async function resumable(admin: Visitor, place: Place, random: Random, tally: Tally): Promise<void> {
  const bytes = random.bytes(1 + random.pick(SIZES))
  const before = place.possible
  const created = await admin.ask(`${place.context}/uploads/${place.entry}`, {
    method: 'POST',
    headers: { ...TUS, 'upload-length': String(bytes.length) },
  })
  const wasGone = before.includes('gone') && created.status === 404
  if (!wasGone) expect('POST', created, [201, 413])
  if (created.status !== 201) return void tally.refused++
  tally.acknowledged++
  const upload = { path: String(created.headers['location']).slice(admin.base.length), bytes, confirmed: 0 }
  place.unfinished = upload
  while (upload.confirmed < bytes.length) {
    const end = Math.min(bytes.length, upload.confirmed + 1 + random.below(bytes.length))
    if (end === bytes.length) place.possible = [...before, heldAs(bytes)]
    const answer = await append(admin, upload, end)
    // The quota may be lower now than when the space was reserved.
    expect('PATCH', answer, end === bytes.length ? [204, 413] : [204])
    if (answer.status === 413) {
      place.possible = before
      place.unfinished = undefined
      expect('DELETE', await admin.ask(upload.path, { method: 'DELETE', headers: TUS }), [204])
      return void tally.refused++
    }
    upload.confirmed = end
    tally.acknowledged++
  }
  place.possible = [heldAs(bytes)]
  place.unfinished = undefined
}

const append = (admin: Visitor, { path, bytes, confirmed }: Resumable, end: number): Promise<Answer> =>
  admin.ask(path, {
    method: 'PATCH',
    body: bytes.subarray(confirmed, end),
    headers: { ...TUS, 'upload-offset': String(confirmed) },
  })

/** What has been confirmed is there, and the upload goes on to its end. */
async function finish(admin: Visitor, place: Place, upload: Resumable): Promise<void> {
  place.unfinished = undefined
  const answer = await admin.ask(upload.path, { method: 'HEAD', headers: TUS })
  // Its entry may be gone.
  if (place.possible.includes('gone') && answer.status === 404) return
  // It takes the last step if only that is missing. The present quota may refuse it, and a killed node may have begun it just now.
  expect('HEAD', answer, [200, 413, 423])
  if (answer.status !== 200) return
  const offset = Number(answer.headers['upload-offset'])
  assert.ok(offset >= upload.confirmed, `${upload.path} has confirmed ${upload.confirmed} bytes, and now ${offset}`)
  const last = await append(admin, { ...upload, confirmed: offset }, upload.bytes.length)
  expect('PATCH', last, [204, 413])
  if (last.status === 204) place.possible = [heldAs(upload.bytes)]
}

/** Uploads whose creation was never answered. */
async function dropUploads(admin: Visitor): Promise<void> {
  const { items } = (await admin.get('auth/uploads')).json<{ items: ReadonlyArray<{ uri: string }> }>()
  for (const { uri } of items) {
    const answer = await admin.ask(uri.slice(admin.base.length), { method: 'DELETE', headers: TUS })
    expect('DELETE', answer, [204, 404])
  }
}

const heldAs = (bytes: Buffer): Held => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

/** Raw, chunked or as a form: the ways in which bytes come (W3.8.1). */
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
  // There may be no file to delete, or no entry any more.
  expect('DELETE', answer, before.some(held => typeof held === 'string') ? [204, 404] : [204])
  place.possible = answer.status === 404 && before.includes('gone') ? [to, 'gone'] : [to]
  tally.acknowledged++
}

async function setQuota(admin: Visitor, space: Space, random: Random, tally: Tally): Promise<void> {
  const quota = random.pick([-1, 0, 200_000, 1_000_000, 5_000_000])
  const before = space.possibleQuotas
  space.possibleQuotas = [...before, quota]
  expect('PUT', await admin.put(`${space.context}/quota`, { quota }), [200])
  // One that was never answered may yet be carried out.
  space.possibleQuotas = before.length > 1 ? [...new Set([...before, quota])] : [quota]
  tally.acknowledged++
}

/** The last written value is read, from any node. */
async function read(admin: Visitor, place: Place): Promise<void> {
  const answer = await admin.get(pathOf(place)).catch((cause: unknown) => {
    throw new ReadFailed(pathOf(place), { cause })
  })
  expect('GET', answer, [200, 204, 404])
  requirePossible(place, heldIn(answer))
}

const pathOf = ({ context, entry }: Place): string => `${context}/resource/${entry}`

function heldIn({ status, bytes }: Answer): Held {
  if (status === 404) return 'gone'
  if (status === 204) return 'empty'
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function requirePossible(place: Place, held: Held): void {
  const reported = JSON.stringify(held)
  const possible = place.possible.map(one => JSON.stringify(one))
  assert.ok(possible.includes(reported), `${pathOf(place)} holds ${reported}, not one of ${possible.join(', ')}`)
}

/** Holds each space against what it may have, and settles what was uncertain. */
export async function settle(admin: Visitor, spaces: readonly Space[]): Promise<void> {
  for (const { places } of spaces)
    for (const place of places) if (place.unfinished) await finish(admin, place, place.unfinished)
  await dropUploads(admin)
  for (const space of spaces) {
    const levels = await Promise.all(space.places.map(async place => await settlePlace(admin, place)))
    const { quota, fillLevel } = (await admin.get(`${space.context}/quota`)).json<{
      quota: number
      fillLevel: number
    }>()
    const level = levels.reduce((sum, size) => sum + size, 0)
    assert.equal(fillLevel, level, `the fill level of context ${space.context}`)
    assert.ok(space.possibleQuotas.includes(quota), `the quota of context ${space.context} is ${quota}`)
    space.possibleQuotas = [quota]
  }
}

/** Resolves to the number of bytes there. */
async function settlePlace(admin: Visitor, place: Place): Promise<number> {
  const answer = await admin.get(pathOf(place))
  expect('GET', answer, [200, 204, 404])
  const held = heldIn(answer)
  requirePossible(place, held)
  place.possible = [held]
  return typeof held === 'object' ? held.size : 0
}

export const filesIn = (spaces: readonly Space[]): number =>
  spaces.flatMap(({ places }) => places).filter(({ possible: [held] }) => typeof held === 'object').length

/** The places of a context are assigned round-robin to the clients that work on it. */
export function sharesOf(spaces: readonly Space[], workers: number): Space[] {
  return Array.from({ length: workers }, (_, worker) => {
    const space = spaces[worker % spaces.length]
    assert.ok(space)
    const turn = Math.floor(worker / spaces.length)
    const places = space.places.filter((_, index) => index % (workers / spaces.length) === turn)
    return { context: space.context, possibleQuotas: space.possibleQuotas, places }
  })
}

/** The reverse, when the clients have ended. */
export function gather(spaces: readonly Space[], shares: readonly Space[]): void {
  spaces.forEach((space, index) => {
    const mine = shares.filter((_, worker) => worker % spaces.length === index)
    space.places.splice(0, space.places.length, ...mine.flatMap(({ places }) => places))
    space.possibleQuotas = [...new Set(mine.flatMap(({ possibleQuotas }) => possibleQuotas))]
  })
}

export async function newSpaces(admin: Visitor, count: number): Promise<Space[]> {
  const spaces: Space[] = []
  for (let made = 0; made < count; made++) {
    spaces.push({ context: await newContext(admin), possibleQuotas: [-1], places: [] })
  }
  return spaces
}

function expect(method: string, answer: Answer, statuses: readonly number[]): void {
  if (!statuses.includes(answer.status)) throw new WrongAnswer(method, answer)
}
