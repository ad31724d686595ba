import { effectiveSettings } from '../config/describe.ts'
import { loadSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { AdminDiagnostics } from '../http/services.ts'
import type { CheckResult } from './check-result.ts'
import type { LivePart } from './live-settings.ts'
import type { RuntimeEnvironment } from './machine.ts'

/** The settings and findings of this process, for its administrators. */
export function createAdminDiagnostics(
  settings: Settings,
  { sources, tokenKey, version }: RuntimeEnvironment,
): AdminDiagnostics & { readonly reload: LivePart } {
  let loaded = sources ? loadSettings(sources) : undefined
  let running: Promise<readonly CheckResult[]> | undefined
  return {
    settings: () => effectiveSettings({ settings, origins: loaded?.origins ?? new Map() }),
    // Opens connections and files: callers who ask meanwhile share one examination.
    runChecks: async () => {
      running ??= import('./doctor.ts')
        .then(({ runChecks }) =>
          runChecks({
            settings,
            origins: loaded?.origins ?? new Map(),
            warnings: loaded?.warnings ?? [],
            file: sources?.file?.path,
            tokenKey,
            version,
          }),
        )
        .finally(() => {
          running = undefined
        })
      return await running
    },
    reload: async ({ read }) => ({ apply: () => void (loaded = read) }),
  }
}
