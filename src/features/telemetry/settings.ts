import { duration, MAX_TIMER } from '../../config/kinds.ts'

export const telemetrySettings = {
  title: 'Slow requests',
  rows: {
    'service.log.slow': duration({
      live: true,
      min: 0,
      max: MAX_TIMER,
      default: 1000,
      help: 'A request that takes the service this long is logged with what the time was spent on; 0 logs none. Waiting for the client does not count.',
    }),
  },
} as const
