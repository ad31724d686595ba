import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { ConfirmByName } from '../../components/confirm-by-name.tsx'
import { Card } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell, undoBy } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { loadName } from '../../lib/principals.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'
import { NameField } from './name-field.tsx'

interface RenamePrincipalProps {
  readonly id: string
  readonly name: string
  readonly again: () => void
  /** By default only the name is changed. */
  readonly rename?: (name: string) => Promise<unknown>
}

/** Renames a user or group; its id and permissions stay the same. */
export function RenamePrincipal({ id, name, again, ...props }: RenamePrincipalProps) {
  const path = `_principals/entry/${part(id)}/name`
  const { rename = (name: string) => ask(path, { method: 'PUT', json: { name } }) } = props
  const saved = (to: string, from: string): void => {
    tell(
      t('renamed', { name: visible(to) }),
      undoBy(() => rename(from), again),
    )
    again()
  }
  return (
    <Card title={t('rename')}>
      <SharedForm
        load={() => loadName(path)}
        inputs={[id, name]}
        fieldsOf={({ name = '' }) => ({ name })}
        labelOf={() => t('fileName')}
        save={async (_, { name }) => name !== undefined && (await rename(name))}
        onSaved={({ name }, before) => saved(name, before.name)}
      >
        {({ fields, set, problem }) => (
          <div class="line">
            <NameField
              label={t('fileName')}
              value={fields.name}
              onValue={name => set({ name })}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <Button type="submit">{t('rename')}</Button>
          </div>
        )}
      </SharedForm>
    </Card>
  )
}

interface DeletePrincipalProps {
  readonly id: string
  readonly name: string
  readonly kind: 'user' | 'group'
  /** Names what is deleted as well and what is kept. */
  readonly text: string
  readonly onDeleted: () => void
}

export function DeletePrincipal({ id, name, kind, text, onDeleted }: DeletePrincipalProps) {
  const [isAsking, setAsking] = useState(false)
  const title = t(kind === 'user' ? 'deleteUser' : 'deleteGroup')
  const remove = async (): Promise<void> => {
    await ask(`_principals/entry/${part(id)}`, { method: 'DELETE' })
    tell(t(kind === 'user' ? 'userDeleted' : 'groupDeleted', { name: visible(name) }))
    onDeleted()
  }
  return (
    <Card title={title}>
      <p>{text}</p>
      <div class="buttons">
        <Button kind="quiet danger" onPress={() => setAsking(true)}>
          {title}
        </Button>
      </div>
      {isAsking && (
        <ConfirmByName title={title} text={text} name={name} onConfirm={remove} onClose={() => setAsking(false)} />
      )}
    </Card>
  )
}
