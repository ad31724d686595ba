import { feature } from '../../core/feature.ts'

/** The command that checks a running service from outside; the service itself has nothing of it. */
export const verify = feature({
  name: 'verify',
  commands: { verify: async () => (await import('./command.ts')).verifyCommand },
  open: () => ({}),
})
