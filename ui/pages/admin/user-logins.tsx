import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt } from '../../components/toast.tsx'
import { deviceOf } from '../../lib/device.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { endLogins, loadLoginsOf, type Login } from '../../lib/logins.ts'
import { loginColumns } from '../login-columns.tsx'

interface UserLoginsProps {
  readonly name: string
  /** A new value loads the sessions again. */
  readonly round: unknown
}

/** The sessions of a user, with buttons to end them. */
export function UserLogins({ name, round }: UserLoginsProps) {
  const [loaded, again] = useLoaded(signal => loadLoginsOf(name, signal), [name, round])
  const [isAsking, setAsking] = useState(false)
  const all = loaded.state === 'ready' ? loaded.value : []
  const end = async (logins: readonly Login[]): Promise<void> => {
    await attempt(() => endLogins(logins), t('loginsEnded'))
    again()
  }
  const columns: ReadonlyArray<Column<Login>> = [
    ...loginColumns(),
    {
      title: t('endLogin'),
      kind: 'actions',
      cell: login => (
        <Button
          kind="quiet"
          size="small"
          label={`${t('endLogin')}: ${deviceOf(login.userAgent)}`}
          onPress={() => end([login])}
        >
          {t('endLogin')}
        </Button>
      ),
    },
  ]
  return (
    <Card
      title={t('loginsOf')}
      aside={
        all.length > 0 && (
          <Button kind="quiet danger" size="small" onPress={() => setAsking(true)}>
            {t('endAll')}
          </Button>
        )
      }
    >
      <Await loaded={loaded} again={again}>
        {logins => (
          <Table
            none={t('loginsNone')}
            caption={t('loginsOf')}
            columns={columns}
            rows={logins}
            keyOf={({ token }) => token}
          />
        )}
      </Await>
      {isAsking && (
        <Confirm
          title={t('endAll')}
          text={t('endAllText', { name })}
          action={t('endAll')}
          onConfirm={async () => end(await loadLoginsOf(name, new AbortController().signal))}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}
