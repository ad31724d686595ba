import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { PrincipalField } from '../../components/principal-field.tsx'
import { tell } from '../../components/toast.tsx'
import { changeAccess } from '../../lib/access.ts'
import { ask, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { fieldProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { findPrincipal } from '../../lib/principals.ts'
import { hasQuotas } from '../../lib/quotas.ts'
import { navigate } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { type Size, toBytes } from '../../lib/sizes.ts'
import { NameField } from './name-field.tsx'
import { SizeFields } from './size-fields.tsx'

/** Placeholder for the id that the service will assign. */
const NEW_ID = '_newId'
const noSize: Size = { amount: '', unit: 'GiB' }

/** Creates a context and opens its page. */
export function NewContext({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={t('newContext')} onClose={onClose}>
      <ContextForm onClose={onClose} />
    </Dialog>
  )
}

function ContextForm({ onClose }: { readonly onClose: () => void }) {
  const { me } = useSession()
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const [size, setSize] = useState(noSize)
  const create = async (): Promise<void> => {
    const quota = size.amount.trim() === '' ? undefined : toBytes(size)
    if (quota === undefined && size.amount.trim() !== '') throw new Problem(400, { code: 'invalid-quota' })
    const place = { base: me.baseUri, context: NEW_ID }
    const access = owner === '' ? undefined : ({ role: 'owner', principal: await findPrincipal(owner) } as const)
    const json = { resource: { name, quota }, ...(access ? { info: changeAccess({}, place, access, true) } : {}) }
    const path = '_contexts?graphtype=context'
    const { entryId } = await ask<{ readonly entryId: string }>(path, { method: 'POST', json })
    tell(t('contextCreated', { name }))
    navigate(`admin/contexts/${part(entryId)}`)
  }
  return (
    <Form work={create}>
      {problem => (
        <>
          <NameField
            label={t('contextName')}
            value={name}
            onValue={setName}
            hint={t('contextNameHint')}
            error={fieldProblem(problem, ['name-taken', 'invalid-name'])}
          />
          <PrincipalField
            label={t('ownerOptional')}
            value={owner}
            onValue={setOwner}
            among="all"
            hint={t('ownerHint')}
            error={fieldProblem(problem, ['unknown-principal'])}
          />
          {hasQuotas && (
            <SizeFields
              label={t('quotaOptional')}
              size={size}
              onSize={setSize}
              hint={t('quotaHint')}
              error={fieldProblem(problem, ['invalid-quota'])}
            />
          )}
          {fieldProblem(problem, fieldCodes) === undefined && <FormError problem={problem} />}
          <DialogButtons onClose={onClose}>
            <Button type="submit">{t('createContext')}</Button>
          </DialogButtons>
        </>
      )}
    </Form>
  )
}

const fieldCodes = ['name-taken', 'invalid-name', 'unknown-principal', 'invalid-quota']
