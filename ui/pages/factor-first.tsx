import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { useSession } from '../lib/session.ts'
import { SecondFactors } from './account-factors.tsx'

/** The only page of a user who must have a second factor and has none. */
export function FactorFirst() {
  const { reload } = useSession()
  return (
    <Page title={t('factorFirst')} lead={t('factorFirstText')}>
      <SecondFactors onAdded={() => void reload()} />
    </Page>
  )
}
