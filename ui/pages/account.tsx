import { MyQuotas } from '../components/my-quotas.tsx'
import { Page } from '../components/page.tsx'
import { Together } from '../components/together.tsx'
import { t } from '../lib/language.ts'
import { AccessTokens } from './access-tokens.tsx'
import { useSession } from '../lib/session.ts'
import { Logins } from './account-logins.tsx'
import { ChangePassword } from './account-password.tsx'
import { ProfileCard } from './profile-card.tsx'
import { SecondFactors } from './account-factors.tsx'
import { WhoAmI } from './account-who.tsx'

/** The user's profile, password, second factors, sessions and access tokens. */
export function Account() {
  const { me } = useSession()
  return (
    <Page title={t('account')}>
      <Together>
        <div class="columns">
          <div class="column">
            <WhoAmI />
            {!me.id.startsWith('_') && <ProfileCard id={me.id} />}
          </div>
          <ChangePassword />
        </div>
        <MyQuotas />
        <SecondFactors />
        <Logins />
        <AccessTokens />
      </Together>
    </Page>
  )
}
