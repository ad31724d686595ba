import { duration } from '../../config/kinds.ts'

export const auditSettings = {
  title: 'Audit log',
  rows: {
    'service.audit.retention': duration({
      sameOnAllNodes: true,
      min: 86_400_000,
      default: 365 * 86_400_000,
      help: 'How long events stay in the audit log.',
    }),
  },
} as const
