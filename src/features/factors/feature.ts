import { feature, offer } from '../../core/feature.ts'
import { factorCodes } from './codes.ts'
import { factorEvents } from './events.ts'
import { FactorPolicy } from './factor-policy.ts'
import { factorRoutes } from './routes.ts'
import { factorSteps } from './schema-steps.ts'
import { SecondFactors } from './second-factors.ts'
import { factorSettings } from './settings.ts'

/** Always on: with `service.auth.second-factor=off` no factor can be added, and those that users have are still asked for. */
export const factors = feature({
  name: 'factors',
  settings: factorSettings,
  contradictions: [
    {
      keys: ['service.auth.second-factor', 'service.auth.second-factor.groups.<n>'],
      wrong: settings =>
        settings['service.auth.second-factor'] === 'off' &&
        settings['service.auth.second-factor.groups.<n>'].length > 0,
      message: 'members of these groups must have a second factor, but no user can add one',
    },
    {
      keys: ['service.auth.second-factor', 'service.auth.http-basic'],
      warning: 'basic-without-factor',
      wrong: settings =>
        ['admins', 'all'].includes(settings['service.auth.second-factor']) && settings['service.auth.http-basic'],
      message: 'users with a second factor cannot use HTTP Basic; their programs use access tokens',
    },
  ],
  schemaSteps: factorSteps,
  tables: [
    { name: 'second_factors', key: ['id'], since: 27 },
    { name: 'recovery_codes', key: ['user_id', 'digest'], since: 27 },
  ],
  codes: factorCodes,
  events: factorEvents,
  commands: { 'remove-factors': async program => (await import('./command.ts')).removeFactors(program) },
  routes: factorRoutes,
  checks: async subject => await (await import('./checks.ts')).checkFactors(subject),
  open: core => {
    const { database, secondFactor, settings, stepUp } = core
    const factors = new SecondFactors({ ...core, secrets: core.sealedSecrets('second factor') })
    const factorPolicy = new FactorPolicy(database, {
      requirement: settings['service.auth.second-factor'],
      groups: settings['service.auth.second-factor.groups.<n>'],
    })
    secondFactor.setChecks({
      kindsOf: userId => factors.kindsOf(userId),
      verify: (...given) => factors.verify(...given),
      isMissing: caller => factorPolicy.isMissing(caller),
      requirePresent: caller => factorPolicy.requirePresent(caller),
    })
    return {
      services: { factors, factorPolicy },
      offers: offer({ database, factors, factorPolicy, stepUp }, factorRoutes),
      begin: () => {
        import('./checks.ts')
          .then(({ warnOfLostKey }) => warnOfLostKey(settings, core))
          .catch((err: unknown) => core.log.error({ err }, 'the keys of authenticator apps could not be checked'))
      },
    }
  },
})
