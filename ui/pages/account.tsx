import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { AccessTokens } from './access-tokens.tsx'
import { Logins } from './account-logins.tsx'
import { ChangePassword } from './account-password.tsx'
import { WhoAmI } from './account-who.tsx'

/** The user's profile, password, sessions and access tokens. */
export function Account() {
  return (
    <Page title={t('account')}>
      <div class="columns">
        <WhoAmI />
        <ChangePassword />
      </div>
      <Logins />
      <AccessTokens />
    </Page>
  )
}
