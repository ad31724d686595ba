import { useState } from 'preact/hooks'
import { AddForm } from '../../components/add-form.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmByName } from '../../components/confirm-by-name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { removeColumn } from '../../components/remove-column.tsx'
import { Table } from '../../components/table.tsx'
import { attempt, tell, undoBy } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { changeContexts, type OwnerQuota } from '../../lib/quotas.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'
import { ContextField, findContext } from './context-field.tsx'
import { OwnerQuotaCard } from './owner-quota.tsx'

/** One group of contexts: its quota and its contexts. */
export function AdminQuotaGroup({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const group = parts['group'] ?? ''
  return (
    <AdminPage title={visible(group)} within={{ to: 'admin/quotas', name: t('adminQuotas') }}>
      <GroupOf group={group} />
    </AdminPage>
  )
}

interface Member {
  readonly id: string
  readonly name: string
}

function GroupOf({ group }: { readonly group: string }) {
  const path = `quota/groups/${part(group)}`
  // The quota is loaded again when the contexts have changed.
  const [round, setRound] = useState(0)
  const load = async (signal: AbortSignal): Promise<readonly Member[]> => {
    const { contexts = [] } = await ask<OwnerQuota>(path, { signal })
    const found = await Promise.all(contexts.map(id => loadContext(id, signal)))
    return found.map(context => ({ id: context.contextId, name: contextTitle(context) }))
  }
  const [loaded, reload] = useLoaded(load, [group])
  const again = (): void => {
    reload()
    setRound(round => round + 1)
  }
  const remove = async ({ id, name }: Member): Promise<void> => {
    const without = (contexts: readonly string[]): string[] => contexts.filter(context => context !== id)
    await attempt(
      () => changeContexts(group, without),
      t('memberRemoved', { name: visible(name) }),
      undoBy(() => changeContexts(group, contexts => [...without(contexts), id]), again),
    )
    again()
  }
  return (
    <>
      <OwnerQuotaCard key={round} title={t('quota')} name={group} path={path} />
      <Card title={t('adminContexts')}>
        <AddContext group={group} again={again} />
        <Await loaded={loaded} again={again}>
          {contexts => (
            <Table
              none={t('quotaGroupNone')}
              caption={t('adminContexts')}
              columns={columns(remove)}
              rows={contexts}
              keyOf={({ id }) => id}
            />
          )}
        </Await>
      </Card>
      <DeleteQuotaGroup group={group} />
    </>
  )
}

const columns = (remove: (context: Member) => Promise<void>) =>
  [
    {
      title: t('context'),
      cell: ({ id, name }: Member) => (
        <Link class="strong" to={`admin/contexts/${part(id)}`}>
          {visible(name)}
        </Link>
      ),
    },
    removeColumn(({ name }: Member) => t('removeMember', { name: visible(name) }), remove),
  ] as const

function AddContext({ group, again }: { readonly group: string; readonly again: () => void }) {
  const add = async (name: string): Promise<string> => {
    const found = await findContext(name)
    await changeContexts(group, contexts => [...contexts, found])
    again()
    return t('memberAdded', { name: visible(name) })
  }
  return <AddForm add={add} field={field => <ContextField {...field} label={t('quotaGroupAdd')} />} />
}

function DeleteQuotaGroup({ group }: { readonly group: string }) {
  const [isAsking, setAsking] = useState(false)
  const remove = async (): Promise<void> => {
    await ask(`quota/groups/${part(group)}`, { method: 'DELETE' })
    tell(t('groupDeleted', { name: visible(group) }))
    navigate('admin/quotas')
  }
  return (
    <Card title={t('deleteGroup')}>
      <p>{t('quotaGroupDelete')}</p>
      <div class="buttons">
        <Button kind="quiet danger" onPress={() => setAsking(true)}>
          {t('deleteGroup')}
        </Button>
      </div>
      {isAsking && (
        <ConfirmByName
          title={t('deleteGroup')}
          text={t('quotaGroupDelete')}
          name={group}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  )
}
