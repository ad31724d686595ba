import { optionalFeature } from '../../core/feature.ts'
import { checkFilter, openFilter } from './filter.ts'
import { BreachedPasswords } from './password-lists.ts'
import { breachedPasswordSettings } from './settings.ts'

export const breachedPasswords = optionalFeature({
  name: 'breached-passwords',
  settings: breachedPasswordSettings,
  commands: { 'breached-passwords': async () => (await import('./command.ts')).breachedPasswords },
  isOn: ({ settings }) => settings['service.auth.password.rule.breached'] !== 'off',
  requireUsable: ({ settings }) => openFilter(settings['service.auth.password.rule.breached']).close(),
  passwordRules: ({ settings }) => {
    const filter = openFilter(settings['service.auth.password.rule.breached'])
    const list = new BreachedPasswords(filter)
    return [{ name: 'breached', kind: 'breached', holds: text => !list.has(text), close: () => filter.close() }]
  },
  checks: async ({ settings }) => checkFilter(settings['service.auth.password.rule.breached']),
  open: () => ({}),
})
