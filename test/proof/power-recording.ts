import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { stowage } from '../support/cli.ts'
import { type Answer, type Ask, Visitor } from '../support/http-client.ts'
import { ADMIN_PASSWORD, type InProcess, type Process, startProcess } from '../support/service.ts'
import { Disk, Image } from './power-disk.ts'
import { everything } from './power-choices.ts'
import { type Call, readTraces, underStrace } from './power-trace.ts'

/** What clients were told, checked with the program on a store. */
export type Check = (service: InProcess) => Promise<void>
/** By the folder of the store, and by subject. */
type Promises = Readonly<Partial<Record<'data' | 'restored', Readonly<Record<string, Check>>>>>

/** A change, or several at once, that the program has acknowledged. */
export interface Step {
  readonly recording: string
  readonly title: string
  /** The number of the call with the last answer. */
  readonly at: number
  /** Everything promised so far that is still to hold. */
  readonly promised: Promises
}

export interface Recording {
  readonly calls: readonly Call[]
  readonly steps: readonly Step[]
}

export const settings = { 'service.data.quota': 'on', 'service.log.level': 'error' }

/** The program at work in a folder, under strace. */
export class Recorder {
  readonly #folder: string
  readonly #traces: string[] = []
  readonly #steps: (Omit<Step, 'at'> & { readonly trace: number; readonly answers: number })[] = []
  #promised: Promises = {}
  #recording = ''
  #service: Process | undefined
  #trace = 0
  #answers = 0
  #admin: Visitor | undefined

  /** @param folder empty */
  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(this.disk)
  }

  /** The folder whose changes are recorded. */
  get disk(): string {
    return join(this.#folder, 'disk')
  }

  get data(): string {
    return join(this.disk, 'data')
  }

  get service(): Process {
    return this.#service ?? assert.fail('the service is not running')
  }

  get admin(): Visitor {
    return this.#admin ?? assert.fail('the service is not running')
  }

  visitor(): Visitor {
    return new CountedVisitor(this.service.base, () => void this.#answers++)
  }

  begin(recording: string): void {
    this.#recording = recording
  }

  /**
   * Does something that must survive from its last answer on.
   * @param promises asked for afterwards; each replaces the earlier one with the same subject
   */
  async step(title: string, work: () => Promise<unknown>, promises: () => Promises = () => ({})): Promise<void> {
    await work()
    this.#note(title, promises(), this.#trace, this.#answers)
  }

  /** Starts the service, and signs in as admin. */
  async start(): Promise<void> {
    // The line with its address.
    this.#answers = 1
    const all = { ...settings, 'service.data.folder': this.data }
    this.#service = await startProcess(
      { after: () => {} },
      { folder: this.disk, settings: all, tracer: this.#tracer() },
    )
    this.#trace = this.#traces.length - 1
    this.#admin = this.visitor()
    assert.equal((await this.#admin.signIn('admin', ADMIN_PASSWORD)).status, 200)
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#service?.stop(signal)
    this.#service = undefined
  }

  /** Runs a command of the program; its output acknowledges what it did. */
  async command(title: string, args: readonly string[], promises: Promises = {}): Promise<void> {
    const { status, stdout, stderr } = await stowage(this.disk, args, {}, { tracer: this.#tracer() })
    assert.equal(status, 0, stdout + stderr)
    this.#note(title, promises, this.#traces.length - 1)
  }

  /** Stops the service, and reads what was recorded. */
  async end(): Promise<Recording> {
    await this.stop('SIGTERM')
    const calls = readTraces(this.#traces, this.disk)
    await requireSame(calls, this.disk)
    const answered = this.#traces.map((_, trace) => [...calls.keys()].filter(at => isAnswerOf(calls[at], trace)))
    const steps = this.#steps.map(({ trace, answers, ...step }) => {
      const at = answered[trace]?.at(answers - 1)
      assert.ok(at !== undefined, `the answer to "${step.title}" was not recorded`)
      return { ...step, at }
    })
    return { calls, steps }
  }

  #tracer(): string[] {
    const file = join(this.#folder, `trace-${this.#traces.length}`)
    this.#traces.push(file)
    return underStrace(file)
  }

  /** @param answers counted in this trace; by default all */
  #note(title: string, { data, restored }: Promises, trace: number, answers = 0): void {
    this.#promised = {
      data: { ...this.#promised.data, ...data },
      restored: { ...this.#promised.restored, ...restored },
    }
    this.#steps.push({ recording: this.#recording, title, trace, answers, promised: this.#promised })
  }
}

const isAnswerOf = (call: Call | undefined, trace: number): boolean => call?.kind === 'answer' && call.trace === trace

class CountedVisitor extends Visitor {
  readonly #onAnswer: () => void

  constructor(base: string, onAnswer: () => void) {
    super(base)
    this.#onAnswer = onAnswer
  }

  override async ask(path: string, options?: Ask): Promise<Answer> {
    const answer = await super.ask(path, options)
    this.#onAnswer()
    return answer
  }
}

/** The recorded calls, made on a disk that loses nothing, give what is in the folder. */
async function requireSame(calls: readonly Call[], folder: string): Promise<void> {
  const disk = new Disk()
  for (const call of calls) disk.apply(call)
  const real = new Image()
  for (const path of await readdir(folder, { recursive: true })) {
    const isFile = (await stat(join(folder, path))).isFile()
    real.add(path, isFile ? await readFile(join(folder, path)) : undefined)
  }
  assert.deepEqual(disk.image(everything).summary(), real.summary(), 'the recording is not complete')
}
