import { Button } from '../../components/button.tsx'
import { Card } from '../../components/page.tsx'
import { QuotaBar } from '../../components/quota-bar.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Quota } from '../../lib/contexts.ts'
import { bytes, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { fromBytes, type Size, toBytes } from '../../lib/sizes.ts'
import { SizeFields } from './size-fields.tsx'

interface ContextQuotaProps {
  readonly id: string
  readonly title: string
  /** Absent if quotas are switched off. */
  readonly quota: Quota | undefined
  readonly again: () => void
}

const UNLIMITED = -1

/** The fill level and quota of a context. */
export function ContextQuota({ id, title, quota, again }: ContextQuotaProps) {
  return (
    <Card title={t('quota')}>
      {quota ? <QuotaForm id={id} title={title} quota={quota} again={again} /> : <p class="notice">{t('quotaOff')}</p>}
    </Card>
  )
}

const sizeOf = ({ quota, hasDefaultQuota }: Quota): Size =>
  hasDefaultQuota || quota < 0 ? { amount: '', unit: 'GiB' } : fromBytes(quota)

function QuotaForm({ id, title, quota, again }: ContextQuotaProps & { readonly quota: Quota }) {
  const path = `${part(id)}/quota`
  const put = async (wanted: number): Promise<void> => {
    await ask(path, { method: 'PUT', json: { quota: wanted } })
    again()
  }
  const save = async (stored: Quota, changed: Partial<Size>): Promise<void> => {
    const wanted = toBytes({ ...sizeOf(stored), ...changed })
    if (wanted === undefined) throw new Problem(400, { code: 'invalid-quota' })
    await put(wanted)
    tell(t('quotaSet', { quota: bytes(wanted) }))
  }
  const reset = async (): Promise<void> => {
    await ask(path, { method: 'DELETE' })
    again()
  }
  return (
    <>
      <QuotaBar name={title} quota={quota} />
      <p class="muted small">{t(quota.hasDefaultQuota ? 'quotaDefault' : 'quotaOwn')}</p>
      <SharedForm
        load={() => askTagged<Quota>(path)}
        inputs={[id, quota.quota, quota.hasDefaultQuota]}
        fieldsOf={sizeOf}
        labelOf={field => t(field === 'unit' ? 'unit' : 'quotaNew')}
        save={save}
        onSaved={() => undefined}
      >
        {({ fields, set, problem }) => (
          <>
            <SizeFields
              label={t('quotaNew')}
              size={fields}
              onSize={set}
              required
              error={problem === undefined ? undefined : tellProblem(problem)}
            />
            <div class="buttons">
              <Button type="submit">{t('setQuota')}</Button>
              {quota.quota !== UNLIMITED && (
                <Button kind="quiet" onPress={() => attempt(() => put(UNLIMITED), t('quotaLifted'))}>
                  {t('quotaNone')}
                </Button>
              )}
              {!quota.hasDefaultQuota && (
                <Button kind="quiet" onPress={() => attempt(reset, t('quotaRemoved'))}>
                  {t('removeQuota')}
                </Button>
              )}
            </div>
          </>
        )}
      </SharedForm>
    </>
  )
}
