import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Await, Card } from '../components/page.tsx'
import { type Column, Table } from '../components/table.tsx'
import { attempt } from '../components/toast.tsx'
import { ask } from '../lib/api.ts'
import { address } from '../lib/base.ts'
import { forgetPicked } from '../lib/picked-files.ts'
import { deviceOf } from '../lib/device.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { loadOwnLogins, type Login } from '../lib/logins.ts'
import { loginColumns } from './login-columns.tsx'

/** The sessions of the user, with buttons to end them. */
export function Logins() {
  const [loaded, again] = useLoaded(loadOwnLogins, [])
  const [isAsking, setAsking] = useState(false)
  const hasOthers = loaded.state === 'ready' && loaded.value.length > 1
  const end = async (json: { readonly token: string } | { readonly scope: 'others' }, done: string): Promise<void> => {
    await attempt(() => ask('auth/tokens', { method: 'DELETE', json }), done)
    again()
  }
  const columns: ReadonlyArray<Column<Login>> = [
    ...loginColumns(),
    {
      title: t('signOut'),
      kind: 'actions',
      cell: ({ token, isThis, userAgent }) =>
        isThis ? (
          <form method="post" action={address('auth/logout')} onSubmit={forgetPicked}>
            <Button kind="quiet" size="small" type="submit">
              {t('signOut')}
            </Button>
          </form>
        ) : (
          <Button
            kind="quiet"
            size="small"
            label={`${t('endLogin')}: ${deviceOf(userAgent)}`}
            onPress={() => end({ token }, t('ended'))}
          >
            {t('endLogin')}
          </Button>
        ),
    },
  ]
  return (
    <Card
      title={t('logins')}
      aside={
        hasOthers && (
          <Button kind="quiet danger" size="small" onPress={() => setAsking(true)}>
            {t('endOthers')}
          </Button>
        )
      }
    >
      <Await loaded={loaded} again={again}>
        {logins => <Table caption={t('logins')} columns={columns} rows={logins} keyOf={({ token }) => token} />}
      </Await>
      {isAsking && (
        <Confirm
          title={t('endOthers')}
          text={t('endOthersText')}
          action={t('endOthers')}
          onConfirm={() => end({ scope: 'others' }, t('endedOthers'))}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}
