import { effectiveSettings } from '../config/describe.ts'
import { loadSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { Examination } from '../core/examination.ts'
import type { Reload } from '../core/reload.ts'
import type { ComparedSettings } from '../core/live-settings.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'

/** The settings and findings of this process. */
export function createExamination(
  settings: Settings,
  { sources, tokenKey, version }: RuntimeEnvironment,
): Examination & { readonly reload: Reload<ComparedSettings> } {
  let loaded = sources ? loadSettings(sources) : undefined
  const origins = () => loaded?.origins ?? new Map()
  return {
    settings: () => effectiveSettings({ settings, origins: origins() }),
    runChecks: async () => {
      const { runChecks } = await import('./doctor.ts')
      const warnings = loaded?.warnings ?? []
      // Requests would wait for a check of the whole database.
      const own = {
        settings,
        origins: origins(),
        warnings,
        file: sources?.file?.path,
        tokenKey,
        version,
        maxChecked: 0,
      }
      return await runChecks(own)
    },
    reload: async ({ read }) => ({ apply: () => void (loaded = read) }),
  }
}
