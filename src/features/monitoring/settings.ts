import { secret } from '../../config/kinds.ts'

export const monitoringSettings = {
  title: 'Metrics',
  rows: {
    'service.metrics.token': secret({
      live: true,
      help: 'A client that sends it as a bearer token may read `/management/metrics`; administrators always may.',
    }),
  },
} as const
