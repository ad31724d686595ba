import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { Contexts } from './account-contexts.tsx'
import { Logins } from './account-logins.tsx'
import { ChangePassword } from './account-password.tsx'
import { WhoAmI } from './account-who.tsx'

/** Who one is here, one's room, one's password, one's logins. */
export function Account() {
  return (
    <Page title={t('account')}>
      <Contexts />
      <div class="columns">
        <WhoAmI />
        <ChangePassword />
      </div>
      <Logins />
    </Page>
  )
}
