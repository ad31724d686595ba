import { boolean } from '../../config/kinds.ts'

export const linkSettings = {
  title: 'Public links',
  rows: {
    'service.public-links': boolean({
      sameOnAllNodes: true,
      default: true,
      help: 'Users may create public links to files and folders. Off: existing links do not work either.',
    }),
  },
} as const
