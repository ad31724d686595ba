import { t } from '../../lib/language.ts'
import { Links } from '../sharing/my-links.tsx'
import { AdminPage } from './admin-page.tsx'

/** The public links of all users. */
export function AdminLinks() {
  return (
    <AdminPage title={t('publicLinks')}>
      <Links title={t('publicLinksOfAll')} isAll />
    </AdminPage>
  )
}
