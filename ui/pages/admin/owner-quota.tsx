import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { FileCount, QuotaBar } from '../../components/quota-bar.tsx'
import { FormError } from '../../components/form.tsx'
import { ReservedUploads } from '../../components/reserved-uploads.tsx'
import { SharedForm } from '../../components/shared-form.tsx'
import { attempt, tell } from '../../components/toast.tsx'
import { ask, askTagged, Problem } from '../../lib/api.ts'
import { fieldProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import type { OwnerQuota } from '../../lib/quotas.ts'
import { fromBytes, type Size, sizeUnits, toBytes } from '../../lib/sizes.ts'
import { SizeFields } from './size-fields.tsx'

interface OwnerQuotaCardProps {
  readonly title: string
  /** Of what has the quota. */
  readonly name: string
  /** Of its resource. */
  readonly path: string
  /** Whether it has a default from the settings. */
  readonly hasDefault?: boolean
}

/** The usage and the quota of a user, a group of contexts or the store: shown, set and removed. */
export function OwnerQuotaCard(props: OwnerQuotaCardProps) {
  const { title, path } = props
  const [loaded, again] = useLoaded(signal => ask<OwnerQuota>(path, { signal }), [path])
  return (
    <Card title={title}>
      <Await loaded={loaded} again={again}>
        {quota => <QuotaForm {...props} quota={quota} again={again} />}
      </Await>
    </Card>
  )
}

type Fields = { readonly amount: string; readonly unit: string; readonly files: string }

const fieldsOf = ({ quota, hasDefaultQuota, maxFiles }: OwnerQuota): Fields => ({
  ...(hasDefaultQuota || quota < 0 ? { amount: '', unit: 'GiB' } : fromBytes(quota)),
  files: maxFiles < 0 ? '' : String(maxFiles),
})

const sizeIn = ({ amount, unit }: Fields): Size => ({
  amount,
  unit: sizeUnits.find(known => known === unit) ?? 'GiB',
})

interface QuotaFormProps extends OwnerQuotaCardProps {
  readonly quota: OwnerQuota
  readonly again: () => void
}

function QuotaForm({ name, path, hasDefault = false, quota, again }: QuotaFormProps) {
  const put = (json: { readonly quota: number | null; readonly maxFiles: number | null }): Promise<void> =>
    ask(path, { method: 'PUT', json })
  const save = async (stored: OwnerQuota, changed: Partial<Fields>): Promise<void> => {
    const wanted = { ...fieldsOf(stored), ...changed }
    const isSameSize = changed.amount === undefined && changed.unit === undefined
    const kept = stored.hasDefaultQuota ? null : stored.quota
    await put({ quota: isSameSize ? kept : readBytes(sizeIn(wanted)), maxFiles: readCount(wanted.files) })
    tell(t('saved'))
    again()
  }
  const change = async (work: () => Promise<unknown>, told: string): Promise<void> => {
    await attempt(work, told)
    again()
  }
  return (
    <>
      <QuotaBar name={name} quota={quota} />
      <FileCount name={name} quota={quota} />
      <ReservedUploads path={path} reserved={quota.reserved} again={again} />
      {hasDefault && quota.hasDefaultQuota && <p class="muted small">{t('quotaDefault')}</p>}
      <SharedForm
        load={() => askTagged<OwnerQuota>(path)}
        inputs={[path, quota.quota, quota.hasDefaultQuota, quota.maxFiles]}
        fieldsOf={fieldsOf}
        labelOf={field => t(field === 'files' ? 'maxFiles' : field === 'unit' ? 'unit' : 'quotaNew')}
        save={save}
        onSaved={() => undefined}
      >
        {({ fields, set, problem }) => (
          <>
            <SizeFields
              label={t('quotaNew')}
              size={sizeIn(fields)}
              onSize={set}
              hint={t(hasDefault ? 'quotaHint' : 'limitHint')}
              error={fieldProblem(problem, ['invalid-quota'])}
            />
            <Field
              label={t('maxFiles')}
              value={fields.files}
              onValue={files => set({ files })}
              hint={t('limitHint')}
              error={fieldProblem(problem, ['invalid-max-files'])}
              autocomplete="off"
            />
            {fieldProblem(problem, ['invalid-quota', 'invalid-max-files']) === undefined && (
              <FormError problem={problem} />
            )}
            <div class="buttons">
              <Button type="submit">{t('setQuota')}</Button>
              {quota.quota >= 0 && (
                <Button
                  kind="quiet"
                  onPress={() => change(() => put({ quota: -1, maxFiles: quota.maxFiles }), t('quotaLifted'))}
                >
                  {t('quotaNone')}
                </Button>
              )}
              {hasDefault && !quota.hasDefaultQuota && (
                <Button kind="quiet" onPress={() => change(() => ask(path, { method: 'DELETE' }), t('quotaRemoved'))}>
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

/** @returns `null` for the default @throws {Problem} */
function readBytes(size: Size): number | null {
  if (size.amount.trim() === '') return null
  const wanted = toBytes(size)
  if (wanted === undefined) throw new Problem(400, { code: 'invalid-quota' })
  return wanted
}

/** @returns `null` for no limit @throws {Problem} */
function readCount(text: string): number | null {
  if (text.trim() === '') return null
  if (!/^\d{1,15}$/.test(text.trim())) throw new Problem(400, { code: 'invalid-max-files' })
  return Number(text)
}
