import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { tell } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { fieldProblem, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { createUser, invite } from '../../lib/new-users.ts'
import { type Group, loadPortion } from '../../lib/portions.ts'
import { hasQuotas } from '../../lib/quotas.ts'
import { navigate } from '../../lib/router.tsx'
import { type Size, toBytes } from '../../lib/sizes.ts'
import { visible } from '../../lib/text.ts'
import { GeneratePassword } from '../generate-password.tsx'
import { loadRules, NewPassword, type Rules } from '../password-field.tsx'
import { TemporaryPassword } from '../temporary-password.tsx'
import { NameField } from './name-field.tsx'
import { SizeFields } from './size-fields.tsx'

interface Offers {
  readonly rules: Rules
  readonly groups: readonly Group[]
}

/** More groups are added on the page of the user. */
const MAX_GROUPS = 20

async function loadOffers(signal: AbortSignal): Promise<Offers> {
  const [rules, { items }] = await Promise.all([
    loadRules(signal),
    loadPortion<'groups', Group>('groups', { query: '', limit: MAX_GROUPS }, signal),
  ])
  return { rules, groups: items.filter(({ id }) => !id.startsWith('_')) }
}

/** Creates a user, with a space and groups, and opens their page. */
export function NewUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [offers, again] = useLoaded(loadOffers, [])
  return (
    <Dialog title={t('newUser')} onClose={onClose}>
      <Await loaded={offers} again={again}>
        {offers => <NewUserForm {...offers} onClose={onClose} />}
      </Await>
    </Dialog>
  )
}

const nobody = { name: '', fullName: '', email: '', password: '', isTemporary: true, groups: [] as readonly string[] }
const defaultSize: Size = { amount: '', unit: 'GiB' }

function NewUserForm({ rules, groups, onClose }: Offers & { readonly onClose: () => void }) {
  const [user, setUser] = useState(nobody)
  const [hasSpace, setHasSpace] = useState(true)
  const [size, setSize] = useState(defaultSize)
  const [isInvited, setInvited] = useState(false)
  const set = (changed: Partial<typeof nobody>): void => setUser(user => ({ ...user, ...changed }))
  const create = async (): Promise<void> => {
    const quota = size.amount.trim() === '' ? undefined : toBytes(size)
    if (hasSpace && quota === undefined && size.amount.trim() !== '') throw new Problem(400, { code: 'invalid-quota' })
    const id = await createUser({ ...user, space: hasSpace ? { quota } : undefined })
    const isMailed = isInvited && user.password === '' && (await invite(user.name))
    tell(t(isMailed ? 'invited' : 'userCreated', { name: visible(user.name) }))
    navigate(`admin/users/${part(id)}`)
  }
  return (
    <Form work={create}>
      {problem => (
        <>
          <NameField
            label={t('userName')}
            value={user.name}
            onValue={name => set({ name })}
            hint={t('userNameHint')}
            error={fieldProblem(problem, aboutName)}
          />
          <Field
            label={t('fullName')}
            value={user.fullName}
            onValue={fullName => set({ fullName })}
            autocomplete="off"
          />
          <Field
            label={t('email')}
            type="email"
            value={user.email}
            onValue={email => set({ email })}
            autocomplete="off"
            error={fieldProblem(problem, ['invalid-email'])}
          />
          <Check label={t('withSpace')} isOn={hasSpace} onChange={setHasSpace} />
          {hasSpace && hasQuotas && (
            <SizeFields
              label={t('quotaOptional')}
              size={size}
              onSize={setSize}
              hint={t('quotaHint')}
              error={fieldProblem(problem, ['invalid-quota'])}
            />
          )}
          {groups.length > 0 && (
            <GroupChoice groups={groups} chosen={user.groups} onChoice={groups => set({ groups })} />
          )}
          <PasswordPart rules={rules} user={user} set={set} problem={problem} />
          {user.name.includes('@') && user.password === '' && (
            <Check label={t('inviteByMail')} isOn={isInvited} onChange={setInvited} />
          )}
          {fieldProblem(problem, [...aboutName, 'invalid-email', 'invalid-quota']) === undefined &&
            !isAboutPassword(problem) && <FormError problem={problem} />}
          <DialogButtons onClose={onClose}>
            <Button type="submit">{t('createUser')}</Button>
          </DialogButtons>
        </>
      )}
    </Form>
  )
}

interface PasswordPartProps {
  readonly rules: Rules
  readonly user: typeof nobody
  readonly set: (changed: Partial<typeof nobody>) => void
  readonly problem: unknown
}

const PasswordPart = ({ rules, user: { password, isTemporary }, set, problem }: PasswordPartProps) => (
  <>
    <NewPassword
      {...rules}
      isShown
      required={false}
      value={password}
      onValue={password => set({ password })}
      problem={problem}
      error={isAboutPassword(problem) ? tellProblem(problem) : undefined}
    />
    <GeneratePassword password={password} onPassword={password => set({ password })} />
    {password === '' ? (
      <p class="hint">{t('withoutPasswordHint')}</p>
    ) : (
      <TemporaryPassword isTemporary={isTemporary} onTemporary={isTemporary => set({ isTemporary })} />
    )}
  </>
)

interface GroupChoiceProps {
  readonly groups: readonly Group[]
  readonly chosen: readonly string[]
  readonly onChoice: (groups: readonly string[]) => void
}

const GroupChoice = ({ groups, chosen, onChoice }: GroupChoiceProps) => (
  <fieldset class="choices">
    <legend>{t('groupsOf')}</legend>
    {groups.map(({ id, name, fullName }) => (
      <Check
        key={id}
        label={visible(fullName ?? name ?? id)}
        isOn={chosen.includes(id)}
        onChange={isOn => onChoice(isOn ? [...chosen, id] : chosen.filter(one => one !== id))}
      />
    ))}
  </fieldset>
)

const aboutName = ['name-taken', 'invalid-name'] as const

const isAboutPassword = (problem: unknown): boolean =>
  problem instanceof Problem && problem.code.startsWith('password-')
