import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { WhoAmI } from './account-who.tsx'

/** Who one is here, one's password, one's logins and one's room. */
export function Account() {
  return (
    <Page title={t('account')}>
      <WhoAmI />
    </Page>
  )
}
