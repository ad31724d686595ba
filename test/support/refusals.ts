import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Refusal {
  readonly check: string
  readonly expected?: string | undefined
  readonly received?: string | undefined
}

const folder = fileURLToPath(new URL('../sso/refusals/', import.meta.url))

/**
 * A table of what administrators read about refused sign-ons: a line for each attack, with the check that refuses it, what was expected
 * and what was received. `RECORD=1` writes the table from what the tests observe, so that a change can be read as a difference.
 */
export class Refusals {
  readonly #path: string
  readonly #lines: Map<string, string>

  constructor(name: string) {
    this.#path = join(folder, `${name}.txt`)
    const isRecording = process.env['RECORD'] === '1'
    const lines = isRecording ? [] : readFileSync(this.#path, 'utf8').split('\n').filter(Boolean)
    this.#lines = new Map(lines.map(line => [line.slice(0, line.indexOf(' → ')), line]))
    if (isRecording) process.once('exit', () => writeFileSync(this.#path, [...this.#lines.values(), ''].join('\n')))
  }

  /** Asserts that the table says the same about this attack. */
  assertKnown(title: string, { check, expected, received }: Refusal): void {
    const line = `${title} → ${check}: expected ${shown(expected)}, received ${shown(received)}`
    if (process.env['RECORD'] === '1') this.#lines.set(title, line)
    assert.equal(line, this.#lines.get(title))
  }
}

/** One line, without what each run chooses anew, which are fingerprints of keys, and without the words of the XML parser. */
function shown(value: string | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{64}/g, '<fingerprint>')
    .replace(/(?<=not well-formed: ).*(?=")/, '<reason>')
  return text.length > 400 ? `${text.slice(0, 400)} and more, ${text.length} in all` : text
}
