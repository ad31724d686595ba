import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { tell } from '../../components/toast.tsx'
import { ask, Problem } from '../../lib/api.ts'
import { address, part } from '../../lib/base.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { navigate } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { GeneratePassword } from '../generate-password.tsx'
import { loadRules, NewPassword } from '../password-field.tsx'
import { TemporaryPassword } from '../temporary-password.tsx'
import { NameField } from './name-field.tsx'

/** Creates a user and opens their page. */
export function NewUser({ onClose }: { readonly onClose: () => void }) {
  const [rules, again] = useLoaded(loadRules, [])
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [isTemporary, setTemporary] = useState(true)
  const [isInvited, setInvited] = useState(false)
  const create = async (): Promise<void> => {
    const resource = { name, ...(password === '' ? {} : { password, temporaryPassword: isTemporary }) }
    const path = '_principals?graphtype=user'
    const { entryId } = await ask<{ readonly entryId: string }>(path, { method: 'POST', json: { resource } })
    const isMailed = isInvited && password === '' && (await invite(name))
    tell(t(isMailed ? 'invited' : 'userCreated', { name: visible(name) }))
    navigate(`admin/users/${part(entryId)}`)
  }
  return (
    <Dialog title={t('newUser')} onClose={onClose}>
      <Await loaded={rules} again={again}>
        {rules => (
          <Form work={create}>
            {problem => (
              <>
                <NameField
                  label={t('userName')}
                  value={name}
                  onValue={setName}
                  hint={t('userNameHint')}
                  error={isAboutName(problem) ? tellProblem(problem) : undefined}
                />
                <NewPassword
                  {...rules}
                  isShown
                  required={false}
                  value={password}
                  onValue={setPassword}
                  problem={problem}
                  error={isAboutPassword(problem) ? tellProblem(problem) : undefined}
                />
                <GeneratePassword password={password} onPassword={setPassword} />
                {password === '' ? (
                  <p class="hint">{t('withoutPasswordHint')}</p>
                ) : (
                  <TemporaryPassword isTemporary={isTemporary} onTemporary={setTemporary} />
                )}
                {name.includes('@') && password === '' && (
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={isInvited}
                      onInput={event => setInvited(event.currentTarget.checked)}
                    />
                    {t('inviteByMail')}
                  </label>
                )}
                {!isAboutName(problem) && !isAboutPassword(problem) && <FormError problem={problem} />}
                <DialogButtons onClose={onClose}>
                  <Button type="submit">{t('createUser')}</Button>
                </DialogButtons>
              </>
            )}
          </Form>
        )}
      </Await>
    </Dialog>
  )
}

/** Asks the service to mail a link to set the password. Returns false if the service sends no such links. */
async function invite(email: string): Promise<boolean> {
  const body = new URLSearchParams({ email })
  const response = await fetch(address('auth/pwreset'), { method: 'POST', body }).catch(() => undefined)
  return response?.ok === true
}

const isAboutName = (problem: unknown): boolean =>
  problem instanceof Problem && ['name-taken', 'invalid-name'].includes(problem.code)

const isAboutPassword = (problem: unknown): boolean =>
  problem instanceof Problem && problem.code.startsWith('password-')
