import { offer, optionalFeature } from '../../core/feature.ts'
import { resetCodes } from './codes.ts'
import { resetEvents } from './events.ts'
import { PasswordReset } from './password-reset.ts'
import { PATH, passwordResetRoutes } from './routes.ts'
import { resetSettings } from './settings.ts'

export const passwordReset = optionalFeature({
  name: 'password-reset',
  settings: resetSettings,
  contradictions: [
    {
      keys: ['service.auth.password-reset', 'service.smtp.host', 'service.smtp.from'],
      wrong: settings =>
        settings['service.auth.password-reset'] &&
        (settings['service.smtp.host'] === undefined || settings['service.smtp.from'] === undefined),
      message: 'password reset needs a mail server and a sender',
    },
  ],
  codes: resetCodes,
  events: resetEvents,
  routes: passwordResetRoutes,
  isOn: ({ settings }) => settings['service.auth.password-reset'],
  open: core => {
    const { mails, passwordRules, signInPage } = core
    if (!mails) throw new TypeError('password reset is on without a mail server')
    const passwordReset = new PasswordReset({ ...core, mails })
    signInPage.resetPath = PATH
    return {
      offers: offer({ passwordReset, passwordRules }, passwordResetRoutes),
      jobs: [['password resets', () => passwordReset.expire()]],
    }
  },
})
