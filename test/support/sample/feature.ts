import { access } from 'node:fs/promises'
import { StartupError } from '../../../src/base/errors.ts'
import { ok } from '../../../src/core/check-result.ts'
import { offer, optionalFeature } from '../../../src/core/feature.ts'
import { sampleRoutes } from './routes.ts'
import { sampleSettings } from './settings.ts'
import { Bells } from './bells.ts'
import { bellSteps } from './bell-rows.ts'

/** A feature that uses everything a feature may declare: bells that are rung by a route and fall silent by a job. */
export const sample = optionalFeature({
  name: 'sample',
  settings: sampleSettings,
  schemaSteps: bellSteps,
  routes: sampleRoutes,
  contradictions: [
    {
      keys: ['service.sample.melody-file', 'service.sample.strokes'],
      wrong: settings =>
        settings['service.sample.melody-file'] !== undefined && settings['service.sample.strokes'] === 1,
      message: 'a melody needs more than one stroke',
    },
  ],
  requireUsable: async ({ settings }) => {
    const file = settings['service.sample.melody-file']
    if (file === undefined) return
    await access(file).catch((cause: unknown) => {
      throw new StartupError(`${file} cannot be read.`, { cause })
    })
  },
  isOn: ({ settings }) => settings['service.sample.strokes'] > 0,
  checks: async ({ settings }) => [
    ok('bells', 'bells: {strokes} strokes', { strokes: settings['service.sample.strokes'] }),
  ],
  open: ({ database, settings }) => {
    const bells = new Bells(database, settings['service.sample.strokes'])
    return {
      offers: offer({ bells }, sampleRoutes),
      jobs: [['bells', () => bells.silence()]],
      metrics: [{ kind: 'gauge', name: 'bells_ringing', help: 'Bells that ring.', read: () => bells.count() }],
    }
  },
})
