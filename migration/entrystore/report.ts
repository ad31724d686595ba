import { type FindingCode, findingCodes } from './finding-codes.ts'

const MAX_EXAMPLES = 20
const MAX_EXAMPLE_CHARACTERS = 200

export interface Finding {
  readonly code: FindingCode
  readonly text: string
  readonly advice: string
  /** The number of occurrences. */
  readonly number: number
  /** The number of quads that were not imported because of it. */
  readonly quads: number
  /** The first twenty; never a password or a hash. */
  readonly examples: readonly string[]
}

/** The number of quads by result: `read` is the sum of all others. */
interface QuadCounts {
  readonly read: number
  readonly imported: number
  /** Not imported, because this service derives the same data: index, relations, fill levels. */
  readonly derived: number
  /** The same statement twice in one graph. */
  readonly duplicate: number
  /** The sum of `quads` of all findings. */
  readonly reported: number
}

interface ReportJson {
  readonly source: Readonly<Record<string, string>>
  readonly quads: QuadCounts
  readonly counts: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
}

interface OpenFinding {
  number: number
  quads: number
  readonly examples: string[]
}

/** Collects the results and findings of an import. */
export class Report {
  readonly #findings = new Map<FindingCode, OpenFinding>()
  readonly #counts = new Map<string, number>()
  readonly #source = new Map<string, string>()
  readonly #quads = { read: 0, imported: 0, derived: 0, duplicate: 0 }

  add(result: 'read' | 'imported' | 'derived' | 'duplicate', quads = 1): void {
    this.#quads[result] += quads
  }

  /** A finding that an administrator should check; no quad is lost. */
  note(code: FindingCode, example: string): void {
    this.drop(code, example, 0)
  }

  /** Quads that were not imported. */
  drop(code: FindingCode, example: string, quads = 1): void {
    const finding = this.#findings.get(code) ?? { number: 0, quads: 0, examples: [] }
    this.#findings.set(code, finding)
    finding.number++
    finding.quads += quads
    if (finding.examples.length < MAX_EXAMPLES) finding.examples.push(shortened(example))
  }

  count(what: string, number = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + number)
  }

  from(what: string, value: string): void {
    this.#source.set(what, value)
  }

  get isClean(): boolean {
    return this.#findings.size === 0
  }

  get quads(): QuadCounts {
    const reported = [...this.#findings.values()].reduce((sum, { quads }) => sum + quads, 0)
    return { ...this.#quads, reported }
  }

  /** @throws {Error} when a quad is not accounted for, which would be an error of this program */
  requireBalanced(): void {
    const { read, imported, derived, duplicate, reported } = this.quads
    if (read === imported + derived + duplicate + reported) return
    throw new Error(`${read} quads were read, but ${imported} + ${derived} + ${duplicate} + ${reported} accounted for`)
  }

  toJSON(): ReportJson {
    const order = Object.keys(findingCodes) as FindingCode[]
    return {
      source: Object.fromEntries(this.#source),
      quads: this.quads,
      counts: Object.fromEntries(this.#counts),
      findings: order.flatMap(code => {
        const found = this.#findings.get(code)
        return found ? [{ code, ...findingCodes[code], ...found }] : []
      }),
    }
  }

  toText(): string {
    const { source, quads, counts, findings } = this.toJSON()
    const rows = (pairs: ReadonlyArray<readonly [string, string | number]>): string[] => {
      const width = Math.max(0, ...pairs.map(([name]) => name.length))
      return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
    }
    return [
      'Source',
      ...rows(Object.entries(source)),
      'Quads',
      ...rows(Object.entries(quads)),
      'Content',
      ...rows(Object.entries(counts)),
      ...(findings.length === 0 ? ['No findings.'] : ['Findings']),
      ...findings.flatMap(({ code, text, advice, number, quads: lost, examples }) => [
        `  ${code}: ${number}${lost === 0 ? '' : ` (${lost} quads)`}`,
        `    ${text}`,
        `    ${advice}`,
        ...examples.map(example => `    - ${example}`),
        ...(number > examples.length ? [`    … and ${number - examples.length} more`] : []),
      ]),
    ].join('\n')
  }
}

/** One line, without characters that control a terminal. */
function shortened(text: string): string {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return line.length > MAX_EXAMPLE_CHARACTERS ? `${line.slice(0, MAX_EXAMPLE_CHARACTERS)}…` : line
}
