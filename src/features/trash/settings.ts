import { integer } from '../../config/kinds.ts'

export const trashSettings = {
  title: 'Trash',
  rows: {
    'service.trash.days': integer({
      sameOnAllNodes: true,
      min: 0,
      max: 3650,
      default: 30,
      help: 'Days after which entries in the trash are deleted permanently; 0 keeps them until a user deletes them.',
    }),
  },
} as const
