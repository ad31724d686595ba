import { Problem } from './api.ts'
import { freeBytes, loadQuota } from './contexts.ts'
import { sendFile } from './send-file.ts'

export interface Upload {
  readonly id: number
  readonly context: string
  readonly file: File
  readonly state: 'waiting' | 'sending' | 'done' | 'refused' | 'cancelled'
  /** Bytes that have gone. */
  readonly sent: number
  /** Why it was refused. */
  readonly problem?: unknown
}

/** So many go at once; more would share the same line. */
const MAX_AT_ONCE = 2

const changed = new EventTarget()
const CHANGE = 'change'
const aborts = new Map<number, AbortController>()
let all: readonly Upload[] = []
let count = 0

/** Uploads go on while somebody looks at another page of the application. */
export const uploadsOf = (context: string): readonly Upload[] => all.filter(upload => upload.context === context)

export function onUploads(listener: () => void): () => void {
  changed.addEventListener(CHANGE, listener)
  return () => changed.removeEventListener(CHANGE, listener)
}

const isOver = ({ state }: Upload): boolean => state === 'done' || state === 'refused' || state === 'cancelled'

export function addUploads(context: string, files: readonly File[]): void {
  const added = files.map((file): Upload => ({ id: ++count, context, file, state: 'waiting', sent: 0 }))
  set([...all, ...added])
  goOn()
}

export function cancelUpload(id: number): void {
  change(id, { state: 'cancelled' })
  aborts.get(id)?.abort()
}

export function retryUpload(id: number): void {
  change(id, { state: 'waiting', sent: 0, problem: undefined })
  goOn()
}

/** Takes those off the list that are over, or one of them. */
export function clearUploads(context: string, id?: number): void {
  set(all.filter(upload => upload.context !== context || !isOver(upload) || (id !== undefined && upload.id !== id)))
}

function set(next: readonly Upload[]): void {
  all = next
  changed.dispatchEvent(new Event(CHANGE))
}

const change = (id: number, part: Partial<Upload>): void =>
  set(all.map(upload => (upload.id === id ? { ...upload, ...part } : upload)))

function goOn(): void {
  while (aborts.size < MAX_AT_ONCE) {
    const next = all.find(({ id, state }) => state === 'waiting' && !aborts.has(id))
    if (!next) return
    void send(next)
  }
}

async function send({ id, context, file }: Upload): Promise<void> {
  const controller = new AbortController()
  aborts.set(id, controller)
  change(id, { state: 'sending', sent: 0 })
  try {
    await requireRoom(context, file.size)
    await sendFile({ context, file, signal: controller.signal, onSent: sent => change(id, { sent }) })
    change(id, { state: 'done', sent: file.size })
  } catch (problem) {
    // Who has cancelled it is told so, and may have asked for another try by now.
    if (!controller.signal.aborted) change(id, { state: 'refused', problem })
  } finally {
    aborts.delete(id)
    goOn()
  }
}

/** Spares somebody the sending of what would be refused. The service is the judge all the same. @throws {Problem} */
async function requireRoom(context: string, needed: number): Promise<void> {
  const quota = await loadQuota(context)
  const free = quota && freeBytes(quota)
  if (quota && free !== undefined && needed > free) {
    throw new Problem(413, { code: 'quota-exceeded', quota: quota.quota, fillLevel: quota.fillLevel, needed })
  }
}

addEventListener('beforeunload', event => {
  if (aborts.size > 0) event.preventDefault()
})
