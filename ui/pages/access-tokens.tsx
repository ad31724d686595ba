import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Confirm } from '../components/dialog.tsx'
import { Card, ProblemNotice } from '../components/page.tsx'
import { type Column, Table } from '../components/table.tsx'
import { attempt } from '../components/toast.tsx'
import { type AccessToken, loadAccessTokens, revokeAccessToken } from '../lib/access-tokens.ts'
import { ago, dateTime } from '../lib/format.ts'
import { findMessage, t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { visible } from '../lib/text.ts'
import { NewAccessTokenDialog } from './new-access-token.tsx'

interface AccessTokensProps {
  /** Name of another user, for administrators; if absent, the page shows the user's own tokens and can create one. */
  readonly user?: string
}

/** The access tokens of a user, with buttons to revoke them. Shows nothing if access tokens are switched off. */
export function AccessTokens({ user }: AccessTokensProps) {
  const [loaded, again] = useLoaded(signal => loadAccessTokens(signal, user), [user])
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<AccessToken>()
  if (loaded.state === 'loading' || (loaded.state === 'ready' && !loaded.value)) return null
  const revoke = async ({ id }: AccessToken): Promise<void> => {
    await attempt(() => revokeAccessToken(id), t('tokenRevoked'))
    again()
  }
  const tokens = loaded.state === 'ready' ? (loaded.value ?? []) : []
  const columns: ReadonlyArray<Column<AccessToken>> = [
    ...tokenColumns(),
    {
      title: t('revoke'),
      kind: 'actions',
      cell: token => (
        <Button
          kind="quiet danger"
          size="small"
          label={`${t('revoke')}: ${visible(token.name)}`}
          onPress={() => setRevoking(token)}
        >
          {t('revoke')}
        </Button>
      ),
    },
  ]
  return (
    <Card
      title={t('accessTokens')}
      aside={
        user === undefined && (
          <Button kind="quiet" size="small" onPress={() => setCreating(true)}>
            {t('createToken')}
          </Button>
        )
      }
    >
      <p class="muted">{t('accessTokensText')}</p>
      {loaded.state === 'failed' && <ProblemNotice error={loaded.error} again={again} />}
      {loaded.state === 'ready' && (
        <Table
          none={t('accessTokensNone')}
          caption={t('accessTokens')}
          columns={columns}
          rows={tokens}
          keyOf={({ id }) => id}
        />
      )}
      {isCreating && <NewAccessTokenDialog onCreated={again} onClose={() => setCreating(false)} />}
      {revoking && (
        <Confirm
          title={t('revoke')}
          text={t('revokeText', { name: visible(revoking.name) })}
          action={t('revoke')}
          onConfirm={() => revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </Card>
  )
}

const tokenColumns = (): ReadonlyArray<Column<AccessToken>> => [
  { title: t('name'), cell: token => <Name {...token} /> },
  {
    title: t('permission'),
    cell: ({ scopes }) => scopes.map(scope => findMessage(`scope.${scope}`) ?? scope).join(', '),
  },
  { title: t('tokenExpires'), cell: token => <Expiry {...token} /> },
  {
    title: t('lastAccess'),
    cell: ({ lastUsed, lastAddress }) =>
      lastUsed === undefined ? t('never') : `${ago(new Date(lastUsed))} (${lastAddress ?? ''})`,
  },
]

function Name({ name, contexts, addresses }: AccessToken) {
  const limits = [...(contexts ?? []), ...(addresses ?? [])]
  return (
    <div>
      {visible(name)}
      {limits.length > 0 && <div class="muted small">{limits.join(' · ')}</div>}
    </div>
  )
}

function Expiry({ expires }: AccessToken) {
  const time = new Date(expires)
  return (
    <>
      {dateTime(time)} {time.getTime() < Date.now() && <span class="badge">{t('tokenExpired')}</span>}
    </>
  )
}
