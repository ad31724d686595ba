import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { Logins } from './account-logins.tsx'
import { ChangePassword } from './account-password.tsx'
import { WhoAmI } from './account-who.tsx'

/** The user's profile, password and sessions. */
export function Account() {
  return (
    <Page title={t('account')}>
      <div class="columns">
        <WhoAmI />
        <ChangePassword />
      </div>
      <Logins />
    </Page>
  )
}
