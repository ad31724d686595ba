import { onSignIn, Problem } from './api.ts'
import { part } from './base.ts'
import { freeBytes, loadQuota, type Quota } from './contexts.ts'
import { createForFile, deleteEntry, inFolder, resourcePath } from './files.ts'
import { hasQuotas } from './quotas.ts'
import { beginUpload, giveUp, isInPieces, loadUnfinished, sendPieces, type Unfinished } from './resumable-uploads.ts'
import { sendFile } from './send-file.ts'

/** The target of uploads: a context, and a folder in it. */
export interface Target {
  readonly context: string
  /** In the form that the service uses in its responses. */
  readonly contextUri: string
  readonly folder: string | undefined
}

export interface NewUpload {
  readonly target: Target
  readonly file: File
  readonly name: string
  /** Id of the entry whose file is replaced. */
  readonly replaces?: string | undefined
  /** The upload that this one goes on with. */
  readonly resumes?: Unfinished | undefined
}

export interface Upload extends NewUpload {
  readonly id: number
  readonly state: 'waiting' | 'sending' | 'done' | 'refused' | 'cancelled'
  /** Bytes sent so far. */
  readonly sent: number
  /** The error, if the upload was refused, or waits for the connection. */
  readonly problem?: unknown
}

/** Maximum number of parallel uploads; more would only share the same connection. */
const MAX_AT_ONCE = 3

const changed = new EventTarget()
const CHANGE = 'change'
const aborts = new Map<number, AbortController>()
/** The last known quota of each context, and the bytes uploaded to it since. */
const rooms = new Map<string, { readonly quota: Quota; added: number }>()
let all: readonly Upload[] = []
let unfinished: readonly Unfinished[] = []
let count = 0
let isPaused = false
let isDrawing = false

/** All uploads. They continue while another page of the application is shown. */
export const uploads = (): readonly Upload[] => all
export const uploadsArePaused = (): boolean => isPaused

/** Uploads that have begun earlier or elsewhere, and need their file again. */
export const unfinishedUploads = (): readonly Unfinished[] => unfinished

let isRow = (_upload: Unfinished): boolean => false

/** Those that are no rows of the folder that is shown. */
export const unfinishedElsewhere = (): readonly Unfinished[] => unfinished.filter(upload => !isRow(upload))

/** Some unfinished uploads are rows of a list. @returns a function that ends it */
export function showAsRows(areRows: (upload: Unfinished) => boolean): () => void {
  isRow = areRows
  set(all)
  return () => {
    if (isRow === areRows) isRow = () => false
    set(all)
  }
}

const isInTray = ({ uri }: Unfinished): boolean => all.some(({ resumes }) => resumes?.uri === uri)

/** Asks the service for unfinished uploads. They are no reason to disturb anyone, so a failure shows none. */
export async function findUnfinished(): Promise<void> {
  const found = await loadUnfinished().catch(() => [])
  unfinished = found.filter(upload => !isInTray(upload))
  set(all)
}

/** Gives an unfinished upload up. @throws {Problem} */
export async function discardUpload(upload: Unfinished): Promise<void> {
  await giveUp(upload)
  await findUnfinished()
}

export function onUploads(listener: () => void): () => void {
  changed.addEventListener(CHANGE, listener)
  return () => changed.removeEventListener(CHANGE, listener)
}

export const isActive = ({ state }: Upload): boolean => state === 'waiting' || state === 'sending'

export function addUploads(added: readonly NewUpload[]): void {
  for (const { target } of added) rooms.delete(target.context)
  unfinished = unfinished.filter(({ uri }) => !added.some(({ resumes }) => resumes?.uri === uri))
  set([...all, ...added.map((upload): Upload => ({ ...upload, id: ++count, state: 'waiting', sent: 0 }))])
  void startNext()
}

/** Why a request is aborted; a paused upload keeps what the service has. */
const PAUSED = 'paused'

export function cancelUpload(id: number): void {
  const resumes = all.find(upload => upload.id === id)?.resumes
  const sending = aborts.get(id)
  change(id, { state: 'cancelled', problem: undefined, resumes: undefined })
  if (sending) sending.abort()
  else if (resumes) void giveUp(resumes).catch(findUnfinished)
}

export function retryUpload(id: number): void {
  const upload = all.find(upload => upload.id === id)
  if (upload) rooms.delete(upload.target.context)
  change(id, { state: 'waiting', sent: 0, problem: undefined })
  void startNext()
}

/** Stops uploads in pieces, and starts no further ones. A file that is sent at once is completed. */
export function pauseUploads(paused: boolean): void {
  isPaused = paused
  set(all)
  for (const { id, file } of all) {
    if (!paused || !isInPieces(file)) continue
    const sending = aborts.get(id)
    if (sending) change(id, { state: 'waiting', problem: undefined })
    sending?.abort(PAUSED)
  }
  void startNext()
}

export const canPauseUploads = (): boolean =>
  all.some(({ state, file }) => state === 'waiting' || (state === 'sending' && isInPieces(file)))

export function cancelUploads(): void {
  for (const { id } of all.filter(isActive)) cancelUpload(id)
}

/** Removes finished uploads from the list, or a single one. */
export function clearUploads(id?: number): void {
  const isKept = (upload: Upload): boolean => isActive(upload) || (id !== undefined && upload.id !== id)
  const left = all.some(upload => !isKept(upload) && upload.state === 'refused' && upload.resumes)
  set(all.filter(isKept))
  if (left) void findUnfinished()
}

/** Listeners are called at most once per frame, because progress is reported far more often. */
function set(next: readonly Upload[]): void {
  all = next
  if (isDrawing) return
  isDrawing = true
  setTimeout(() => {
    isDrawing = false
    changed.dispatchEvent(new Event(CHANGE))
  }, 16)
}

const change = (id: number, part: Partial<Upload>): void =>
  set(all.map(upload => (upload.id === id ? { ...upload, ...part } : upload)))

const sending = (context: string): number =>
  all
    .filter(({ id, target }) => aborts.has(id) && target.context === context)
    .reduce((sum, { file }) => sum + file.size, 0)

async function startNext(): Promise<void> {
  if (isPaused) return
  while (aborts.size < MAX_AT_ONCE) {
    const next = all.find(({ id, state }) => state === 'waiting' && !aborts.has(id))
    if (!next) return
    const { context } = next.target
    const room = rooms.get(context)
    const free = room && freeBytes(room.quota)
    // It may fit once other uploads have been completed or have failed, so it waits.
    const mustWait = room && free !== undefined && next.file.size > free - room.added - sending(context)
    if (mustWait && sending(context) > 0) return
    void send(next)
    if (!room) return
  }
}

async function send(upload: Upload): Promise<void> {
  const { id, target, file, replaces, resumes } = upload
  const controller = new AbortController()
  const { signal } = controller
  aborts.set(id, controller)
  change(id, { state: 'sending' })
  const { context } = target
  try {
    if (replaces === undefined && resumes === undefined) await requireRoom(context, file.size)
    void startNext()
    await (isInPieces(file) ? sendInPieces(upload, signal) : sendAtOnce(upload, signal))
    const room = rooms.get(context)
    if (room) room.added += file.size
    change(id, { state: 'done', sent: file.size, problem: undefined })
  } catch (problem) {
    // The upload may have been started again since it was cancelled.
    if (!signal.aborted) change(id, { state: 'refused', problem })
  } finally {
    aborts.delete(id)
    void startNext()
  }
}

async function sendAtOnce({ id, target, file, name, replaces }: Upload, signal: AbortSignal): Promise<void> {
  const { context } = target
  const query = new URLSearchParams({ file: '', ...inFolder(target) })
  const where =
    replaces === undefined
      ? { method: 'POST' as const, path: `${part(context)}?${query.toString()}` }
      : { method: 'PUT' as const, path: resourcePath({ context, entryId: replaces }) }
  await sendFile({ ...where, file, name, signal, onSent: sent => change(id, { sent }) })
}

/** Responses after which an upload cannot go on: what was sent is refused, or the service has given it up. */
const isLost = (problem: unknown): boolean =>
  problem instanceof Problem && [400, 404, 410, 413].includes(problem.status)

async function sendInPieces(upload: Upload, signal: AbortSignal): Promise<void> {
  const { id, file } = upload
  const begun = upload.resumes ?? (await begin(upload))
  unfinished = unfinished.filter(({ uri }) => uri !== begun.uri)
  if (!signal.aborted || signal.reason === PAUSED) change(id, { resumes: begun })
  try {
    await sendPieces(begun, {
      file,
      signal,
      onSent: sent => change(id, { sent, problem: undefined }),
      onBroken: problem => change(id, { problem }),
    })
  } catch (problem) {
    const isCancelled = signal.aborted && signal.reason !== PAUSED
    if (isLost(problem)) change(id, { resumes: undefined })
    if (isCancelled || isLost(problem)) await giveUp(begun).catch(findUnfinished)
    throw problem
  }
}

/** An entry that is created for the file does not stay without one. @throws {Problem} */
async function begin({ target, file, name, replaces }: Upload): Promise<Unfinished> {
  const { context } = target
  const entry = replaces ?? (await createForFile(target, name))
  try {
    return await beginUpload({ context, entry, isNew: replaces === undefined }, file, name)
  } catch (problem) {
    if (replaces === undefined) await deleteEntry(context, entry).catch(() => undefined)
    throw problem
  }
}

/** Avoids sending a file that would be refused. The service checks the quota in any case. @throws {Problem} */
async function requireRoom(context: string, needed: number): Promise<void> {
  if (!hasQuotas) return
  let room = rooms.get(context)
  if (!room || needed > (freeBytes(room.quota) ?? Infinity) - room.added) {
    const quota = await loadQuota(context)
    if (!quota) return
    room = { quota, added: 0 }
    rooms.set(context, room)
  }
  const { quota, fillLevel } = room.quota
  const free = freeBytes(room.quota)
  if (free !== undefined && needed > free - room.added)
    throw new Problem(413, {
      code: 'quota-exceeded',
      owner: 'context',
      ownerId: context,
      quota,
      fillLevel: fillLevel + room.added,
      needed,
    })
}

/** Bytes of other uploads in progress to the same context, for which the service has reserved space. */
export const reservedBeside = ({ id, target }: Upload): number =>
  all
    .filter(other => other.id !== id && other.state === 'sending' && other.target.context === target.context)
    .reduce((sum, { file }) => sum + file.size, 0)

addEventListener('beforeunload', event => {
  if (all.some(isActive)) event.preventDefault()
})

onSignIn(() => void findUnfinished())

// What failed because the network was gone starts again when it is back.
addEventListener('online', () => {
  for (const { id, state, problem } of all)
    if (state === 'refused' && problem instanceof Problem && problem.status === 0) retryUpload(id)
})
