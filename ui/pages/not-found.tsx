import { Page } from '../components/page.tsx'
import { t } from '../lib/language.ts'
import { Link } from '../lib/router.tsx'

export function NotFound() {
  return (
    <Page title={t('notFound')}>
      <p>
        <Link to="">{t('toMyFiles')}</Link>
      </p>
    </Page>
  )
}
