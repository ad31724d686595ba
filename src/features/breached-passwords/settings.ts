import { text } from '../../config/kinds.ts'

export const breachedPasswordSettings = {
  title: 'Breached passwords',
  rows: {
    'service.auth.password.rule.breached': text({
      sameOnAllNodes: true,
      default: 'off',
      expects: '`off`, `included`, or the path of a list',
      help: 'Reject passwords known from leaks: `included` is a list of 50,000 common passwords, `stowage breached-passwords` makes a larger one.',
    }),
  },
} as const
