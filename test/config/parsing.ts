import { readSettings } from '../../src/config/load.ts'
import { Report } from '../../src/config/report.ts'
import type { Parsed, Setting } from '../../src/config/setting.ts'
import type { Settings } from '../../src/config/settings.ts'
import type { CasSettings } from '../../src/features/cas/settings.ts'
import type { OidcSettings } from '../../src/features/oidc/settings.ts'
import type { SamlSettings } from '../../src/features/saml/settings.ts'
import { type Origin, readWritten } from '../../src/config/source-values.ts'

type AllSettings = Settings & SamlSettings & OidcSettings & CasSettings

/** The type of the core's settings does not have those of the protocols of sign-on. */
export const withSignOn = (settings: Settings): AllSettings => settings as AllSettings

/** The value a row makes of a text, `undefined` when it refuses it. */
export function valueOf<T>(setting: Setting<T>, text: string): T | undefined {
  const parsed: Parsed<T> = setting.kind.parse(text)
  return 'value' in parsed ? parsed.value : undefined
}

/** Settings as far as `lines` can be read. */
export function read(...lines: string[]): {
  settings: AllSettings
  origins: ReadonlyMap<string, Origin>
  report: Report
} {
  const report = new Report()
  const { settings, origins } = readSettings(readWritten({ overrides: lines }, report).written, report)
  return { settings: withSignOn(settings), origins, report }
}
