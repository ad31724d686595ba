import { JOBS_INTERVAL, ScheduledJobs } from '../../base/scheduled-jobs.ts'
import { feature } from '../../core/feature.ts'
import { scrubMetrics } from './metrics.ts'
import { Scrubber } from './scrubber.ts'
import { scrubSettings } from './settings.ts'

export const scrub = feature({
  name: 'scrub',
  settings: scrubSettings,
  open: core => {
    const scrubber = new Scrubber(core, { interval: core.settings['service.data.scrub-interval'] })
    let jobs: ScheduledJobs | undefined
    return {
      metrics: scrubMetrics(scrubber),
      begin() {
        // Other jobs do not wait for it: it may take long.
        jobs = new ScheduledJobs(core.log, [['verification of files', () => scrubber.run(JOBS_INTERVAL)]])
      },
      async close() {
        scrubber.close()
        await jobs?.close()
      },
    }
  },
})
