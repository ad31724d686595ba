import { StartupError } from '../base/errors.ts'
import { findContradictions } from './checks.ts'
import { keys } from './keys.ts'
import { type Change, readSettings } from './reading.ts'
import { Report } from './report.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'
import { type Origin, readWritten, type WrittenSources } from './written.ts'

export interface LoadedSettings {
  /** Frozen, its lists too; its maps are read-only by type. */
  readonly settings: Settings
  /** By key as written, for every setting that has a value. */
  readonly origins: ReadonlyMap<string, Origin>
  /** Each a sentence without a full stop; no secret is in them. */
  readonly warnings: readonly string[]
  /** Unknown keys. They are also among the warnings; `config check --strict` rejects them. */
  readonly unknownKeys: readonly string[]
}

/**
 * Reads the settings: overrides (`key=value`) take precedence over the environment, the environment over the file, the file over
 * the defaults (D10).
 *
 * @throws {StartupError} with all errors, one per line, each naming key and value.
 */
export function loadSettings(sources: WrittenSources): LoadedSettings {
  const report = new Report()
  const written = readWritten(sources, report)
  const { settings, origins, changes, unknownKeys } = readSettings(written, report)
  for (const change of changes) checkChange(change, report)
  findContradictions(settings, origins, report)
  if (report.problems.length > 0) throw new StartupError(report.problems.join('\n'))
  return { settings, origins, warnings: report.warnings, unknownKeys }
}

/** Adds the warnings about a value that is not the default. */
function checkChange({ key, writtenKey }: Change, report: Report): void {
  const setting: Setting = keys[key]
  if (setting.warn !== undefined) report.warning(`${writtenKey} ${setting.warn}`)
}
