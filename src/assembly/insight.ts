import { effectiveSettings } from '../config/describe.ts'
import { loadSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { Insight } from '../http/services.ts'
import type { Diagnosis } from './diagnosis.ts'
import type { Machine } from './machine.ts'

/** The settings and findings of this process, for its administrators. */
export function createInsight(settings: Settings, { sources, tokenKey, version }: Machine): Insight {
  const loaded = sources ? loadSettings(sources) : undefined
  const { warnings = [], origins = new Map() } = loaded ?? {}
  let examining: Promise<readonly Diagnosis[]> | undefined
  return {
    settings: () => effectiveSettings({ settings, origins }),
    // Opens connections and files: callers who ask meanwhile share one examination.
    examine: async () => {
      examining ??= import('./examine.ts')
        .then(({ examine }) => examine({ settings, warnings, file: sources?.file?.path, tokenKey, version }))
        .finally(() => {
          examining = undefined
        })
      return await examining
    },
  }
}
