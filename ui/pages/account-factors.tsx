import { useState } from 'preact/hooks'
import { AddPasskeyDialog } from '../components/add-passkey.tsx'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog, DialogButtons } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Await, Card } from '../components/page.tsx'
import { RecoveryCodes } from '../components/recovery-codes.tsx'
import { type Column, Table } from '../components/table.tsx'
import { attempt, tell, tellFailure } from '../components/toast.tsx'
import {
  type Factor,
  loadFactors,
  removeFactor,
  removeFactorsOf,
  renameFactor,
  renewRecoveryCodes,
} from '../lib/factors.ts'
import { ago, dateTime, tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { hasPasskeys } from '../lib/passkeys.ts'
import { visible } from '../lib/text.ts'
import { NewAppDialog } from './new-app.tsx'

/** The second factors of the user, to add, rename and remove them. @param onAdded after a factor was added */
export function SecondFactors({ onAdded }: { readonly onAdded?: () => void }) {
  const [loaded, again] = useLoaded(signal => loadFactors(signal), [])
  const [adding, setAdding] = useState<Factor['kind']>()
  const [renaming, setRenaming] = useState<Factor>()
  const [removing, setRemoving] = useState<Factor>()
  const [codes, setCodes] = useState<readonly string[]>()
  const added = (recoveryCodes: readonly string[] | undefined): void => {
    setAdding(undefined)
    tell(t('factorAdded'))
    if (recoveryCodes) setCodes(recoveryCodes)
    else onAdded?.()
    again()
  }
  const renew = async (): Promise<void> => {
    await renewRecoveryCodes().then(setCodes, tellFailure)
    again()
  }
  const offers = (kind: Factor['kind']): boolean => loaded.state === 'ready' && loaded.value.canAdd.includes(kind)
  const actions = (factor: Factor) => (
    <>
      <Button
        kind="quiet"
        size="small"
        label={`${t('rename')}: ${visible(factor.name)}`}
        onPress={() => setRenaming(factor)}
      >
        {t('rename')}
      </Button>
      <Button
        kind="quiet danger"
        size="small"
        label={`${t('remove')}: ${visible(factor.name)}`}
        onPress={() => setRemoving(factor)}
      >
        {t('remove')}
      </Button>
    </>
  )
  const columns: ReadonlyArray<Column<Factor>> = [
    ...factorColumns(),
    { title: t('remove'), kind: 'actions', cell: actions },
  ]
  return (
    <Card
      title={t('secondFactors')}
      aside={
        <>
          {offers('totp') && (
            <Button kind="quiet" size="small" onPress={() => setAdding('totp')}>
              {t('addApp')}
            </Button>
          )}
          {offers('passkey') && hasPasskeys() && (
            <Button kind="quiet" size="small" onPress={() => setAdding('passkey')}>
              {t('addPasskey')}
            </Button>
          )}
        </>
      }
    >
      <p class="muted">{t('secondFactorsText')}</p>
      <Await loaded={loaded} again={again}>
        {({ factors, recoveryCodes }) =>
          factors.length === 0 ? (
            <p class="empty">{t('secondFactorsNone')}</p>
          ) : (
            <>
              <Table caption={t('secondFactors')} columns={columns} rows={factors} keyOf={({ id }) => id} />
              <div class="buttons">
                <span class="muted">{t('recoveryCodesLeft', { count: recoveryCodes })}</span>
                <Button kind="quiet" size="small" onPress={renew}>
                  {t('renewRecoveryCodes')}
                </Button>
              </div>
            </>
          )
        }
      </Await>
      {adding === 'totp' && <NewAppDialog onAdded={added} onClose={() => setAdding(undefined)} />}
      {adding === 'passkey' && (
        <AddPasskeyDialog onAdded={({ recoveryCodes }) => added(recoveryCodes)} onClose={() => setAdding(undefined)} />
      )}
      {renaming && <RenameDialog factor={renaming} again={again} onClose={() => setRenaming(undefined)} />}
      {removing && (
        <Confirm
          title={t('removeFactor')}
          text={t('removeFactorText', { name: visible(removing.name) })}
          action={t('remove')}
          onConfirm={async () => {
            await attempt(() => removeFactor(removing.id), t('factorRemoved'))
            again()
          }}
          onClose={() => setRemoving(undefined)}
        />
      )}
      {codes && (
        <RecoveryCodes
          codes={codes}
          onClose={() => {
            setCodes(undefined)
            onAdded?.()
          }}
        />
      )}
    </Card>
  )
}

/** The second factors of another user, for administrators. Shows nothing if the user has none. */
export function SecondFactorsOf({ user }: { readonly user: string }) {
  const [loaded, again] = useLoaded(signal => loadFactors(signal, user), [user])
  const [isRemoving, setRemoving] = useState(false)
  if (loaded.state !== 'ready' || loaded.value.factors.length === 0) return null
  return (
    <Card
      title={t('secondFactors')}
      aside={
        <Button kind="quiet danger" size="small" onPress={() => setRemoving(true)}>
          {t('removeFactors')}
        </Button>
      }
    >
      <Table
        caption={t('secondFactors')}
        columns={factorColumns()}
        rows={loaded.value.factors}
        keyOf={({ id }) => id}
      />
      {isRemoving && (
        <Confirm
          title={t('removeFactors')}
          text={t('removeFactorsText', { name: visible(user) })}
          action={t('removeFactors')}
          onConfirm={async () => {
            await attempt(() => removeFactorsOf(user), t('factorRemoved'))
            again()
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </Card>
  )
}

const factorColumns = (): ReadonlyArray<Column<Factor>> => [
  { title: t('name'), cell: ({ name }) => visible(name) },
  { title: t('factorKind'), cell: ({ kind }) => t(kind === 'totp' ? 'authenticatorApp' : 'passkey') },
  { title: t('created'), kind: 'whole', cell: ({ created }) => dateTime(new Date(created)) },
  {
    title: t('lastAccess'),
    kind: 'whole',
    cell: ({ lastUsed }) => (lastUsed === undefined ? t('never') : ago(new Date(lastUsed))),
  },
]

interface RenameProps {
  readonly factor: Factor
  readonly again: () => void
  readonly onClose: () => void
}

function RenameDialog({ factor, again, onClose }: RenameProps) {
  const [name, setName] = useState(factor.name)
  const rename = async (): Promise<void> => {
    await renameFactor(factor.id, name)
    again()
    onClose()
  }
  return (
    <Dialog title={t('rename')} onClose={onClose}>
      <Form work={rename}>
        {problem => (
          <>
            <Field
              label={t('name')}
              value={name}
              onValue={setName}
              autocomplete="off"
              maxLength={100}
              required
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('rename')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}
