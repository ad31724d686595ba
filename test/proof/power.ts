import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { everything, type NamedChoice, randomChoice, severeChoices, singleChoices } from './power-choices.ts'
import { Disk, type Image } from './power-disk.ts'
import { Life, recordings } from './power-life.ts'
import { Recorder, type Recording, settings, type Step } from './power-recording.ts'
import { contentsIn } from './power-store.ts'
import type { Call } from './power-trace.ts'
import { Random } from './random.ts'

/** Runs the program under strace. Each recording begins where the one before it has left the store. */
export async function recordLife(): Promise<Recording> {
  const recorder = new Recorder(await temporaryFolder())
  const life = new Life(recorder)
  try {
    for (const [name, work] of Object.entries(recordings)) {
      recorder.begin(name)
      await work(life)
    }
    return await recorder.end()
  } finally {
    await recorder.stop('SIGKILL')
  }
}

export interface PowerReport {
  /** States of the disk that were opened, all different, by recording. */
  readonly states: Record<string, number>
  /** How many states the whole program opened. */
  withProgram: number
  /** How many held bytes of an upload that was not acknowledged; `fsck --repair` removed them. */
  withOrphans: number
  readonly findings: string[]
}

interface Options {
  /** About how many states are made, beside those after each step. */
  readonly states: number
  readonly seed: number
  /** The whole program opens states after the first step and every n-th from there. */
  readonly every?: number
  /** Calls that are taken away from the recording, as if the program had not made them; ends with the first finding. */
  readonly without?: (call: Call) => boolean
  readonly onState?: (count: number) => void
}

/**
 * Makes states that a power cut can leave, and opens each. It must be as it was at a moment since the last acknowledged change; after a
 * step the program must also hold what clients were told.
 */
export async function provePower(recording: Recording, options: Options): Promise<PowerReport> {
  const { without, every = 1 } = options
  const calls = recording.calls.map(call => (without?.(call) === true ? NOTHING : call))
  const random = new Random(options.seed)
  const judge = new Judge({ ...recording, calls }, options)
  const disk = new Disk()
  const share = options.states / calls.length
  for (const [at, call] of calls.entries()) {
    if (without && judge.report.findings.length > 0) break
    disk.apply(call)
    const step = recording.steps.findIndex(one => one.at === at)
    const directed = step < 0 ? [] : severeChoices(disk)
    if (step >= 0 && share > 1) directed.push(...singleChoices(disk))
    for (const choice of directed) await judge.open(disk, choice)
    if (step >= 0 && step % every === 0)
      for (const choice of severeChoices(disk)) await judge.openWithProgram(disk, choice)
    for (let more = Math.floor(share + random.below(1000) / 1000); more > 0; more--) {
      const isDirected = random.chance(30)
      const choice = isDirected
        ? random.pick([...severeChoices(disk), ...singleChoices(disk)])
        : randomChoice(disk, random)
      await judge.open(disk, choice)
    }
  }
  return judge.report
}

const NOTHING: Call = { kind: 'sync', path: '', covers: 0 }

class Judge {
  readonly report: PowerReport = { states: {}, withProgram: 0, withOrphans: 0, findings: [] }
  readonly #recording: Recording
  readonly #onState: (count: number) => void
  readonly #moments: Moments
  readonly #seen = new Set<string>()

  constructor(recording: Recording, { onState = () => {} }: Options) {
    this.#recording = recording
    this.#onState = onState
    this.#moments = new Moments(recording.calls)
  }

  /** Opens a state with the stores of the program, unless it has been opened since the last step. */
  async open(disk: Disk, choice: NamedChoice): Promise<void> {
    const image = disk.image(choice)
    const { last, next } = this.#stepsAt(disk.calls - 1)
    const key = `${last?.at} ${image.summary().join()}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    const name = (next ?? last)?.recording ?? ''
    this.report.states[name] = (this.report.states[name] ?? 0) + 1
    this.#onState(this.#seen.size)
    await this.#attempt(disk, choice, async () => {
      const { text, orphans } = await opened(image, contentsIn)
      const since = last?.at ?? -1
      if (!(await this.#moments.include(text, since, disk.calls - 1)))
        throw new Error(difference(text, await this.#moments.at(since)))
      if (orphans.length > 0) this.report.withOrphans++
      await this.#requireNeverStored(orphans, since)
    })
  }

  /** Starts the program on a state, and checks what clients were told until now. */
  async openWithProgram(disk: Disk, choice: NamedChoice): Promise<void> {
    const promised = Object.entries(this.#stepsAt(disk.calls - 1).last?.promised ?? {})
    this.report.withProgram++
    await this.#attempt(disk, choice, () =>
      opened(disk.image(choice), async folder => {
        for (const [name, checks] of promised.filter(([, some]) => Object.keys(some).length > 0)) {
          const service = await startInProcess({ after: () => {} }, { folder: join(folder, name), settings })
          try {
            for (const check of Object.values(checks)) await check(service)
          } finally {
            await service.close()
          }
        }
      }),
    )
  }

  /** An upload that was not acknowledged may leave its bytes. Those of a deleted file must not come back. */
  async #requireNeverStored(orphans: readonly string[], until: number): Promise<void> {
    for (const { at } of this.#recording.steps.filter(step => step.at <= until)) {
      const text = await this.#moments.at(at)
      for (const key of orphans) if (text.includes(key)) throw new Error(`the bytes of a deleted file are back: ${key}`)
    }
  }

  async #attempt(disk: Disk, { title }: NamedChoice, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const { last, next } = this.#stepsAt(disk.calls - 1)
      const place = `${last ? `after "${last.title}"` : ''}${next ? ` before "${next.title}"` : ''}, call ${disk.calls - 1}`
      this.report.findings.push(`${place}, ${title}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** The last acknowledged step, and the one that is under way. */
  #stepsAt(at: number): { readonly last: Step | undefined; readonly next: Step | undefined } {
    const { steps } = this.#recording
    return { last: steps.findLast(step => step.at <= at), next: steps.find(step => step.at > at) }
  }
}

/** What was stored at each moment, while the power was on. */
class Moments {
  readonly #calls: readonly Call[]
  readonly #known = new Map<number, string>()
  readonly #byImage = new Map<string, string>()
  #disk = new Disk()

  constructor(calls: readonly Call[]) {
    this.#calls = calls
  }

  /** @throws {Error} when the store could not be opened after a crash of the program at this moment */
  async at(moment: number): Promise<string> {
    const known = this.#known.get(moment)
    if (known !== undefined) return known
    // These change nothing.
    if (moment >= 0 && /sync|answer/.test(this.#calls[moment]?.kind ?? '')) return await this.at(moment - 1)
    if (this.#disk.calls > moment) this.#disk = new Disk()
    for (const call of this.#calls.slice(this.#disk.calls, moment + 1)) this.#disk.apply(call)
    const image = this.#disk.image(everything)
    const key = image.summary().join()
    const contents = this.#byImage.get(key) ?? (await opened(image, contentsIn)).text
    this.#byImage.set(key, contents)
    this.#known.set(moment, contents)
    return contents
  }

  /** Whether this was stored at one of these moments. */
  async include(contents: string, first: number, last: number): Promise<boolean> {
    for (let moment = first; moment <= last; moment++) if ((await this.at(moment)) === contents) return true
    return false
  }
}

/** Nothing here has to reach a disk. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Writes an image to a folder, and removes it after the work. */
async function opened<T>(image: Image, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(scratch, 'stowage-power-'))
  try {
    image.write(folder)
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Where two texts begin to differ. */
function difference(found: string, wanted: string): string {
  const at = [...wanted].findIndex((character, index) => found[index] !== character)
  const part = (text: string): string => text.slice(Math.max(0, at - 100), at + 100)
  return `what is stored was not so at any moment: …${part(found)}… instead of …${part(wanted)}…`
}
