import { duration } from '../../config/kinds.ts'

export const scrubSettings = {
  title: 'Verification of stored files',
  rows: {
    'service.data.scrub-interval': duration({
      min: 0,
      default: 0,
      help: 'Read and verify each stored file in the background once in this time; 0 disables the verification.',
    }),
  },
  removed: {
    'service.data.verify-on-read':
      'downloads are not compared with their digests; service.data.scrub-interval verifies every stored file',
  },
} as const
