import type { Column } from '../components/table.tsx'
import { deviceOf } from '../lib/device.ts'
import { ago, dateTime, utc } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import type { Login } from '../lib/logins.ts'

/** Columns with the device, address and times of a session. */
export const loginColumns = (): ReadonlyArray<Column<Login>> => [
  { title: t('device'), cell: login => <Device {...login} /> },
  { title: t('signedInSince'), kind: 'whole', cell: ({ loginTime }) => dateTime(utc(loginTime)) },
  { title: t('lastAccess'), kind: 'whole', cell: ({ lastAccess }) => ago(utc(lastAccess)) },
]

function Device({ userAgent, inetAddress, isThis }: Login) {
  return (
    <div>
      <span title={userAgent}>
        {deviceOf(userAgent)} {isThis && <span class="badge">{t('thisLogin')}</span>}
      </span>
      <div class="muted small">{inetAddress.replace(/^\//, '')}</div>
    </div>
  )
}
