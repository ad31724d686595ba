import { readSettings } from '../../src/config/load.ts'
import { Report } from '../../src/config/report.ts'
import type { Parsed, Setting } from '../../src/config/setting.ts'
import type { Settings } from '../../src/config/settings.ts'
import { type Origin, readWritten } from '../../src/config/source-values.ts'

/** The value a row makes of a text, `undefined` when it refuses it. */
export function valueOf<T>(setting: Setting<T>, text: string): T | undefined {
  const parsed: Parsed<T> = setting.kind.parse(text)
  return 'value' in parsed ? parsed.value : undefined
}

/** Settings as far as `lines` can be read. */
export function read(...lines: string[]): {
  settings: Settings
  origins: ReadonlyMap<string, Origin>
  report: Report
} {
  const report = new Report()
  const { settings, origins } = readSettings(readWritten({ overrides: lines }, report), report)
  return { settings, origins, report }
}
