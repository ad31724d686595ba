import { choice, text } from '../../config/kinds.ts'

export const factorSettings = {
  title: 'Second factors',
  rows: {
    'service.auth.second-factor': choice(['off', 'optional', 'admins', 'all'], {
      sameOnAllNodes: true,
      default: 'optional',
      help: 'Who must have a second factor: `optional` no user, `admins` admin and members of the admin group, `all` all users. `off`: no user can add a factor; existing factors are still required.',
    }),
    'service.auth.second-factor.groups.<n>': text({
      sameOnAllNodes: true,
      expects: 'the name of a group',
      help: 'Groups whose members must have a second factor as well.',
    }),
  },
} as const
