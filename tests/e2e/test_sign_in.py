"""The sign-in page in a browser: sign in, sign out, and refusals."""

import re

import pytest
from playwright.sync_api import expect

from domain.people import ACTIONS_BY_ROLE, Role
from tests.e2e.conftest import PASSWORD, fill_sign_in
from ui.navigation import PAGES

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def people(app):
    app.add_person("rosa", Role.REVIEWER)
    app.add_person("carl", Role.COORDINATOR)


def test_a_right_password_opens_the_app(sign_in):
    page = sign_in("rosa")
    expect(page.get_by_text("Rosa", exact=True)).to_be_visible()


def test_wrong_password_is_reported_and_the_name_stays(page):
    fill_sign_in(page, "rosa", "not her password")
    expect(page.get_by_role("alert")).to_have_text("The name or password is wrong.")
    expect(page.get_by_label("Name")).to_have_value("rosa")


def test_signing_out_leads_to_the_sign_in_page_and_stays_there(sign_in):
    page = sign_in("rosa")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.goto("/")
    expect(page).to_have_url(f"{page.url.removesuffix('/sign-in')}/sign-in")


def test_signing_in_opens_the_requested_page_only_once(page):
    page.goto("/review?batch=7")
    fill_sign_in(page, "rosa", PASSWORD)
    expect(page).to_have_url(re.compile("/review"))
    page.goto("/")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()


@pytest.mark.full
def test_forbidden_pages_are_not_found_and_show_no_content(sign_in):
    page = sign_in("rosa")
    for forbidden_page in PAGES:
        if forbidden_page.action is None or forbidden_page.action in ACTIONS_BY_ROLE[Role.REVIEWER]:
            continue
        page.goto("/" + forbidden_page.path.stem)
        expect(page.get_by_role("dialog").get_by_text("Page not found")).to_be_visible()
        expect(page.get_by_role("heading", name="Home")).to_be_visible()
        body_text = page.locator("body").inner_text()
        assert "Add person" not in body_text
        assert "carl" not in body_text.lower()


def test_the_navigation_is_grouped_by_stage_and_each_page_has_its_own_tab_title(sign_in):
    page = sign_in("carl")
    navigation = page.get_by_test_id("stSidebarNav")
    for stage in ("Data", "Review", "Results", "Studies", "Administration"):
        expect(navigation.get_by_text(stage, exact=True)).to_be_visible()
    for title in ("Checks", "Dataset estimates", "Home"):
        navigation.get_by_role("link", name=title).click()
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        expect(page).to_have_title(f"{title} · Overread")


@pytest.mark.full
def test_signing_in_as_another_person_in_a_second_tab_ends_the_first_sign_in(sign_in, app):
    first = sign_in("rosa")
    form = app.url + "/sign-in"
    token = next(cookie for cookie in first.context.cookies() if cookie["name"] == "overread-form")["value"]
    fields = {"form_token": token, "name": "carl", "password": PASSWORD}
    first.context.request.post(form, form=fields)
    first.get_by_text("Rosa", exact=True).wait_for()
    first.get_by_role("link", name="Home").click()  # the click is sent with the sign-in that has ended
    expect(first.get_by_text("Carl", exact=True)).to_be_visible()


@pytest.mark.full
def test_sign_in_and_home_page_do_not_violate_the_content_security_policy(page, sign_in):
    violations = []
    page.on(
        "console",
        lambda message: violations.append(message.text) if "Content Security" in message.text else None,
    )
    sign_in("carl")
    page.get_by_role("heading", name="Home").wait_for()
    assert violations == []


def test_a_demo_person_signs_in_with_one_click_and_without_scripts(chromium, app):
    app.add_person("dina", Role.REVIEWER, demo=True)
    context = chromium.new_context(java_script_enabled=False, base_url=app.url)
    page = context.new_page()
    page.goto("/sign-in")
    expect(page.get_by_text("demo-password")).to_be_visible()
    page.get_by_role("button", name="Dina").click()
    expect(page).to_have_url(app.url + "/")
    context.close()
