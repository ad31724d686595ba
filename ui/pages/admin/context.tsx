import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { ConfirmByName } from '../../components/confirm-by-name.tsx'
import { Fact } from '../../components/fact.tsx'
import { Field } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { tell } from '../../components/toast.tsx'
import { Together } from '../../components/together.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { contextTitle } from '../../lib/contexts.ts'
import { type Graph } from '../../lib/graph.ts'
import { loadName } from '../../lib/principals.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { hasQuotas } from '../../lib/quotas.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { AdminPage, ForAdmins } from './admin-page.tsx'
import { ContextAccess } from '../sharing/context-access.tsx'
import { RenameSpace } from '../sharing/rename-space.tsx'
import { OwnerQuotaCard } from './owner-quota.tsx'
import { ContextArchive } from './context-archive.tsx'

export interface ContextEntry {
  readonly entryId: string
  readonly name?: string
  readonly info: Graph
  readonly metadata?: Graph
}

/** @throws {Problem} */
const loadEntry = (key: string, signal: AbortSignal): Promise<ContextEntry> =>
  ask<ContextEntry>(`_contexts/entry/${part(key)}?includeAll`, { signal })

/** One context. */
export function AdminContext({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  return (
    <ForAdmins title={t('adminContexts')}>
      <ContextOf id={parts['context'] ?? ''} />
    </ForAdmins>
  )
}

function ContextOf({ id }: { readonly id: string }) {
  const [loaded, again] = useLoaded(signal => loadEntry(id, signal), [id])
  const title = loaded.state === 'ready' ? contextTitle({ ...loaded.value, contextId: id }) : id
  return (
    <AdminPage title={visible(title)} within={{ to: 'admin/contexts', name: t('adminContexts') }}>
      <Await loaded={loaded} again={again}>
        {context => (
          <Together>
            <div class="columns">
              <About context={context} again={again} />
              {hasQuotas ? (
                <OwnerQuotaCard
                  title={t('quota')}
                  name={visible(title)}
                  path={`quota/contexts/${part(context.entryId)}`}
                  hasDefault
                />
              ) : (
                <Card title={t('quota')}>
                  <p class="notice">{t('quotaOff')}</p>
                </Card>
              )}
            </div>
            <ContextAccess id={context.entryId} info={context.info} again={again} />
            {!context.entryId.startsWith('_') && (
              <>
                <RenameSpace id={context.entryId} again={again} />
                <ContextArchive id={context.entryId} name={context.name ?? title} />
                <DeleteContext id={context.entryId} name={context.name ?? title} />
              </>
            )}
          </Together>
        )}
      </Await>
    </AdminPage>
  )
}

function DeleteContext({ id, name }: { readonly id: string; readonly name: string }) {
  const [isAsking, setAsking] = useState(false)
  const remove = async (): Promise<void> => {
    await ask(`_contexts/entry/${part(id)}`, { method: 'DELETE' })
    tell(t('contextDeleted', { name: visible(name) }))
    navigate('admin/contexts')
  }
  return (
    <Card title={t('deleteContext')}>
      <p>{t('deleteContextText')}</p>
      <div class="buttons">
        <Button kind="quiet danger" onPress={() => setAsking(true)}>
          {t('deleteContext')}
        </Button>
      </div>
      {isAsking && (
        <ConfirmByName
          title={t('deleteContext')}
          text={t('deleteContextText')}
          name={name}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}

function About({ context, again }: { readonly context: ContextEntry; readonly again: () => void }) {
  const { entryId, name = '' } = context
  const path = `_contexts/entry/${part(entryId)}/name`
  const saved = (): void => {
    tell(t('saved'))
    again()
  }
  return (
    <Card title={t('contextAbout')}>
      <dl class="facts">
        <Fact name={t('userId')}>
          <code>{entryId}</code>
        </Fact>
        <Fact name={t('filesOf')}>
          <Link to={`contexts/${part(entryId)}/files`}>{t('toFiles')}</Link>
        </Fact>
        <Fact name={t('adminAudit')}>
          <Link to={`admin/audit?${new URLSearchParams({ place: entryId }).toString()}`}>{t('events')}</Link>
        </Fact>
      </dl>
      <SharedForm
        load={() => loadName(`_contexts/entry/${part(entryId)}`)}
        inputs={[entryId, name]}
        fieldsOf={({ name = '' }) => ({ name })}
        labelOf={() => t('contextAlias')}
        save={async (_, { name }) => name !== undefined && (await ask(path, { method: 'PUT', json: { name } }))}
        onSaved={saved}
      >
        {({ fields, set, problem }) => (
          <>
            <Field
              label={t('contextAlias')}
              value={fields.name}
              onValue={name => set({ name })}
              maxLength={255}
              autocomplete="off"
              hint={t('contextNameHint')}
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <div class="buttons">
              <Button type="submit">{t('saveName')}</Button>
            </div>
          </>
        )}
      </SharedForm>
    </Card>
  )
}
